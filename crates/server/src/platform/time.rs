//! `system_time`: the device's clock, in its own time zone or in one that is asked for.
//!
//! It sets no clock, and has no zones of its own: they come from the device's IANA database.

use std::fmt;
use std::time::{self, Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::zone::Zone;

const DAY_MS: i64 = 86_400_000;

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
        Some(name) => Zone::named(name)?,
        None => Zone::of_device(),
    };
    Ok(at(time::SystemTime::now(), zone, super::uptime()))
}

/// The moment that was `age` ago, RFC 3339 in UTC; `None` where it is out of the calendar.
pub(super) fn rfc3339_before_now(age: Duration) -> Option<String> {
    time::SystemTime::now().checked_sub(age).map(rfc3339)
}

/// RFC 3339 in UTC, to the millisecond.
pub(crate) fn rfc3339(moment: time::SystemTime) -> String {
    local(epoch_ms(moment)) + "Z"
}

/// Milliseconds since 1970, rounded down.
pub(super) fn epoch_ms(moment: time::SystemTime) -> i64 {
    match moment.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(error) => {
            let before = error.duration().as_nanos().div_ceil(1_000_000);
            i64::try_from(before).map_or(i64::MIN, |ms| -ms)
        }
    }
}

fn at(now: time::SystemTime, zone: Zone, uptime: Option<Duration>) -> SystemTime {
    let (epoch_ms, offset) = (epoch_ms(now), zone.offset(now));
    let minutes = offset.unsigned_abs() / 60;
    let sign = if offset < 0 { '-' } else { '+' };
    let local = local(epoch_ms.saturating_add(i64::from(offset) * 1000));
    SystemTime {
        iso8601: format!("{local}{sign}{:02}:{:02}", minutes / 60, minutes % 60),
        epoch_ms,
        timezone: zone.name,
        utc_offset_seconds: offset,
        uptime_ms: uptime.map(super::milliseconds),
    }
}

/// `2026-07-28T10:20:30.456` of milliseconds since 1970.
fn local(ms: i64) -> String {
    let (year, month, day) = date(ms.div_euclid(DAY_MS));
    let ms = ms.rem_euclid(DAY_MS);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}", ms % 1000)
}

/// Year, month and day of a count of days since 1970-01-01, in the Gregorian calendar.
fn date(days: i64) -> (i64, i64, i64) {
    // Counts from 0000-03-01, so that a leap day is the last of its year, and its years repeat every 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, five months have 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    /// 2026-07-28T10:20:30.456789Z, in summer.
    fn summer() -> time::SystemTime {
        UNIX_EPOCH + Duration::from_micros(1_785_234_030_456_789)
    }

    #[test]
    fn a_moment_is_told_in_the_zones_own_offset() {
        let berlin = Zone::named("Europe/Berlin").expect("a zone");
        let time = at(summer(), berlin, Some(Duration::from_micros(1_234_567)));
        assert_eq!(time.iso8601, "2026-07-28T12:20:30.456+02:00");
        assert_eq!(time.epoch_ms, 1_785_234_030_456);
        assert_eq!(time.timezone.as_deref(), Some("Europe/Berlin"));
        assert_eq!(time.utc_offset_seconds, 7200);
        assert_eq!(time.uptime_ms, Some(1234));
    }

    #[test]
    fn offsets_need_not_be_whole_or_positive_hours() {
        let offset = |name: &str| at(summer(), Zone::named(name).expect("a zone"), None).utc_offset_seconds;
        assert_eq!(offset("Asia/Kathmandu"), 20_700);
        assert_eq!(offset("America/St_Johns"), -9000);
        assert_eq!(offset("UTC"), 0);
    }

    #[test]
    fn a_zones_name_is_found_in_any_case_and_told_in_its_own() {
        let time = at(summer(), Zone::named("america/NEW_YORK").expect("a zone"), None);
        assert_eq!(time.timezone.as_deref(), Some("America/New_York"));
        assert_eq!(at(summer(), Zone::named("utc").expect("a zone"), None).timezone.as_deref(), Some("UTC"));
    }

    #[test]
    fn a_zone_that_does_not_exist_is_named_beside_one_that_does() {
        for name in
            ["Mars/Base", "", "+02:00", "Etc/Unknown", "../../../etc/passwd", "Europe/Berlin\0", "Europe"]
        {
            let error = Zone::named(name).expect_err(name);
            assert_eq!(error, TimeZoneError::Unknown(name.to_owned()));
            let text = error.to_string();
            assert!(text.contains(&format!("{name:?}")) && text.contains("Europe/Berlin"), "{text}");
        }
    }

    #[test]
    fn a_zone_without_a_name_still_has_its_offset() {
        let zone = Zone::posix("EST5EDT,M3.2.0,M11.1.0").expect("a POSIX zone");
        let time = at(summer(), zone, None);
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

    #[test]
    fn dates_follow_the_gregorian_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799, "9999-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
        let before = UNIX_EPOCH - Duration::from_micros(1);
        assert_eq!(rfc3339(before), "1969-12-31T23:59:59.999Z");
        for days in (-719_162..2_932_896).step_by(97) {
            let text = local(days * DAY_MS) + "Z";
            assert_eq!(text.parse::<Timestamp>().expect(&text).as_millisecond(), days * DAY_MS);
        }
    }
}
