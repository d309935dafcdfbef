//! `system_time`: the device's clock, in its own time zone or in one that is asked for.
//!
//! It sets no clock, and has no zones of its own: they come from the device's IANA database.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::{self, TimeZone};
use serde::{Deserialize, Serialize};

/// What `system_time` is asked.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct SystemTimeArguments {
    /// An IANA name; absent, the device's own zone.
    pub(crate) timezone: Option<String>,
}

/// What `system_time` answers.
#[derive(Debug, Serialize)]
pub(crate) struct SystemTime {
    /// Local time with its offset from UTC, to the millisecond.
    pub(crate) iso8601: String,
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub(crate) epoch_ms: i64,
    /// The zone's IANA name; absent where the device's own zone has none (`TZ=EST5EDT,M3.2.0,M11.1.0`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timezone: Option<String>,
    /// Seconds that local time is ahead of UTC.
    pub(crate) utc_offset_seconds: i32,
    /// Milliseconds since the device started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uptime_ms: Option<u64>,
}

/// A time zone that the device does not have. Its text is for the model that asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TimeZoneError {
    /// The database has no zone of this name.
    Unknown(String),
    /// There is no database.
    NoDatabase(String),
}

impl std::error::Error for TimeZoneError {}

impl fmt::Display for TimeZoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeZoneError::Unknown(name) => write!(
                f,
                "unknown time zone {name:?}: give an IANA name such as \"Europe/Berlin\" or \"UTC\", \
                 or leave `timezone` out for the device's own zone"
            ),
            TimeZoneError::NoDatabase(name) => write!(
                f,
                "the time zone {name:?} cannot be looked up, because this device has no time zone database: \
                 give \"UTC\", or leave `timezone` out for the device's own zone"
            ),
        }
    }
}

/// Reads the clocks. May read the device's time zone files.
pub(crate) fn system_time(arguments: &SystemTimeArguments) -> Result<SystemTime, TimeZoneError> {
    let zone = match &arguments.timezone {
        Some(name) => named(name)?,
        // A device that does not know its zone shows UTC; so do we.
        None => TimeZone::try_system().unwrap_or(TimeZone::UTC),
    };
    Ok(at(Timestamp::now(), &zone, super::uptime()))
}

/// The moment that was `age` ago, RFC 3339 in UTC; `None` where it is out of the calendar.
pub(super) fn rfc3339_before_now(age: Duration) -> Option<String> {
    let age = i64::try_from(age.as_millis()).ok()?;
    let moment = Timestamp::from_millisecond(Timestamp::now().as_millisecond().checked_sub(age)?).ok()?;
    Some(format!("{moment:.3}"))
}

fn named(name: &str) -> Result<TimeZone, TimeZoneError> {
    if name.eq_ignore_ascii_case("UTC") {
        return Ok(TimeZone::UTC);
    }
    match TimeZone::get(name) {
        // `Etc/Unknown` is a name that stands for no zone.
        Ok(zone) if !zone.is_unknown() => Ok(zone),
        _ if tz::db().is_definitively_empty() => Err(TimeZoneError::NoDatabase(name.to_owned())),
        _ => Err(TimeZoneError::Unknown(name.to_owned())),
    }
}

fn at(now: Timestamp, zone: &TimeZone, uptime: Option<Duration>) -> SystemTime {
    let offset = zone.to_offset(now);
    SystemTime {
        iso8601: format!("{:.3}", now.display_with_offset(offset)),
        epoch_ms: now.as_millisecond(),
        timezone: zone.iana_name().map(str::to_owned),
        utc_offset_seconds: offset.seconds(),
        uptime_ms: uptime.map(super::milliseconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-07-28T10:20:30.456789Z, in summer.
    fn summer() -> Timestamp {
        Timestamp::from_microsecond(1_785_234_030_456_789).expect("a moment in the calendar")
    }

    #[test]
    fn a_moment_is_told_in_the_zones_own_offset() {
        let berlin = named("Europe/Berlin").expect("a zone");
        let time = at(summer(), &berlin, Some(Duration::from_micros(1_234_567)));
        assert_eq!(time.iso8601, "2026-07-28T12:20:30.456+02:00");
        assert_eq!(time.epoch_ms, 1_785_234_030_456);
        assert_eq!(time.timezone.as_deref(), Some("Europe/Berlin"));
        assert_eq!(time.utc_offset_seconds, 7200);
        assert_eq!(time.uptime_ms, Some(1234));
    }

    #[test]
    fn offsets_need_not_be_whole_or_positive_hours() {
        let offset = |name: &str| at(summer(), &named(name).expect("a zone"), None).utc_offset_seconds;
        assert_eq!(offset("Asia/Kathmandu"), 20_700);
        assert_eq!(offset("America/St_Johns"), -9000);
        assert_eq!(offset("UTC"), 0);
    }

    #[test]
    fn a_zones_name_is_found_in_any_case_and_told_in_its_own() {
        let time = at(summer(), &named("america/NEW_YORK").expect("a zone"), None);
        assert_eq!(time.timezone.as_deref(), Some("America/New_York"));
        assert_eq!(at(summer(), &named("utc").expect("a zone"), None).timezone.as_deref(), Some("UTC"));
    }

    #[test]
    fn a_zone_that_does_not_exist_is_named_beside_one_that_does() {
        for name in
            ["Mars/Base", "", "+02:00", "Etc/Unknown", "../../../etc/passwd", "Europe/Berlin\0", "Europe"]
        {
            let error = named(name).expect_err(name);
            assert_eq!(error, TimeZoneError::Unknown(name.to_owned()));
            let text = error.to_string();
            assert!(text.contains(&format!("{name:?}")) && text.contains("Europe/Berlin"), "{text}");
        }
    }

    #[test]
    fn a_zone_without_a_name_still_has_its_offset() {
        let zone = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").expect("a POSIX zone");
        let time = at(summer(), &zone, None);
        assert_eq!((time.timezone, time.utc_offset_seconds), (None, -14_400));
        assert_eq!(time.iso8601, "2026-07-28T06:20:30.456-04:00");
    }

    #[test]
    fn without_arguments_it_is_the_devices_own_time() {
        let arguments: SystemTimeArguments = serde_json::from_str("{}").expect("no arguments");
        let before = Timestamp::now().as_millisecond();
        let time = system_time(&arguments).expect("the device's time");
        assert!((before..=Timestamp::now().as_millisecond()).contains(&time.epoch_ms));
        let told: Timestamp = time.iso8601.parse().expect("ISO 8601");
        assert_eq!(told.as_millisecond(), time.epoch_ms);
    }

    #[test]
    fn a_start_is_told_in_utc() {
        let text = rfc3339_before_now(Duration::from_secs(3600)).expect("an hour ago is in the calendar");
        assert!(text.ends_with('Z'), "{text}");
        let started: Timestamp = text.parse().expect("RFC 3339");
        assert!(started < Timestamp::now());
        assert_eq!(rfc3339_before_now(Duration::MAX), None);
    }
}
