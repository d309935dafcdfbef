//! Time zones: by IANA name, and the device's own.
//!
//! It carries no zones of its own and keeps none: each question reads the device's database anew.

use std::path::PathBuf;
use std::time::SystemTime;
use std::{env, fs};

use tz::{TimeZone, TimeZoneSettings};

use super::time::{TimeZoneError, epoch_ms};

/// A time zone's rules, and its name where it has one.
#[derive(Debug)]
pub(super) struct Zone {
    /// The IANA name, as the database spells it.
    pub(super) name: Option<String>,
    rules: TimeZone,
}

impl Zone {
    fn utc() -> Zone {
        Zone { name: Some("UTC".to_owned()), rules: TimeZone::utc() }
    }

    /// The zone of an IANA name, whose case does not matter.
    pub(super) fn named(name: &str) -> Result<Zone, TimeZoneError> {
        if name.eq_ignore_ascii_case("UTC") {
            return Ok(Zone::utc());
        }
        let database = database().ok_or_else(|| TimeZoneError::NoDatabase(name.to_owned()))?;
        let unknown = || TimeZoneError::Unknown(name.to_owned());
        let (name, tzif) = look_up(database, name).ok_or_else(unknown)?;
        let rules = TimeZone::from_tz_data(&tzif).map_err(|_| unknown())?;
        Ok(Zone { name: Some(name), rules })
    }

    /// A rule such as `EST5EDT,M3.2.0,M11.1.0`, which is no zone of the database and so has no name.
    pub(super) fn posix(rule: &str) -> Option<Zone> {
        let no_files = TimeZoneSettings::new(&[], |_| Err("a rule is no file".into()));
        Some(Zone { name: None, rules: no_files.parse_posix_tz(rule).ok()? })
    }

    /// The zone that this device's clock shows: `$TZ`, or the setting of the operating system.
    ///
    /// A device that does not know its zone shows UTC; so do we.
    pub(super) fn of_device() -> Zone {
        let zone = match env::var_os("TZ") {
            Some(value) => value.to_str().and_then(Zone::of_variable),
            None => configured(),
        };
        zone.unwrap_or_else(Zone::utc)
    }

    /// What a value of `$TZ` stands for: a rule, a name, or the path of a file.
    fn of_variable(value: &str) -> Option<Zone> {
        if value.is_empty() {
            return Some(Zone::utc());
        }
        let place = value.strip_prefix(':').unwrap_or(value);
        let name = name_in_path(place).unwrap_or(place);
        Zone::posix(value).or_else(|| Zone::named(name).ok()).or_else(|| of_file(place))
    }

    /// Seconds that the zone's local time is ahead of UTC at `moment`.
    pub(super) fn offset(&self, moment: SystemTime) -> i32 {
        let rules = self.rules.as_ref();
        match rules.find_local_time_type(epoch_ms(moment).div_euclid(1000)) {
            Ok(local) => local.ut_offset(),
            // Without a rule for the time after the last change, that change holds for good.
            Err(_) => rules
                .transitions()
                .last()
                .map_or(0, |change| rules.local_time_types()[change.local_time_type_index()].ut_offset()),
        }
    }
}

/// `Europe/Berlin` of `/usr/share/zoneinfo/Europe/Berlin`.
fn name_in_path(path: &str) -> Option<&str> {
    path.rsplit_once("zoneinfo/").map(|(_, name)| name)
}

/// The zone of a file, by name where the file is a link into a database.
fn of_file(path: &str) -> Option<Zone> {
    let target = fs::read_link(path).ok();
    let name = target.as_ref().and_then(|target| name_in_path(target.to_str()?));
    name.and_then(|name| Zone::named(name).ok()).or_else(|| {
        let rules = TimeZone::from_tz_data(&fs::read(path).ok()?).ok()?;
        Some(Zone { name: None, rules })
    })
}

#[cfg(not(target_os = "android"))]
fn configured() -> Option<Zone> {
    let zone = of_file("/etc/localtime")?;
    if zone.name.is_some() {
        return Some(zone);
    }
    // `/etc/localtime` is what counts; `/etc/timezone` may be older, so it only lends its name to the same rules.
    let text = fs::read_to_string("/etc/timezone").ok();
    let named = text.and_then(|name| Zone::named(name.trim()).ok());
    named.filter(|named| named.rules == zone.rules).or(Some(zone))
}

#[cfg(target_os = "android")]
fn configured() -> Option<Zone> {
    Zone::named(&super::android::time_zone()?).ok()
}

/// The folder of the database.
#[cfg(not(target_os = "android"))]
fn database() -> Option<PathBuf> {
    let own = env::var_os("TZDIR").map(PathBuf::from);
    let unix = ["/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"];
    let usual = if cfg!(unix) { &unix[..] } else { &[] };
    own.into_iter().chain(usual.iter().map(PathBuf::from)).find(|folder| folder.is_dir())
}

/// The file of the database.
#[cfg(target_os = "android")]
fn database() -> Option<PathBuf> {
    let files = ["/apex/com.android.tzdata/etc/tz/tzdata", "/system/usr/share/zoneinfo/tzdata"];
    files.iter().map(PathBuf::from).find(|file| file.is_file())
}

/// The zone's name as the database spells it, and its data.
///
/// Each part of the name is looked for among what a folder holds, so no name leads out of the database.
#[cfg(not(target_os = "android"))]
fn look_up(mut path: PathBuf, name: &str) -> Option<(String, Vec<u8>)> {
    let mut spelled: Vec<String> = Vec::new();
    for part in name.split('/') {
        let mut held = fs::read_dir(&path).ok()?.flatten().map(|entry| entry.file_name());
        let found = held.find(|held| held.eq_ignore_ascii_case(part))?;
        // Two copies of the database, not names in it.
        if spelled.is_empty() && (found == "posix" || found == "right") {
            return None;
        }
        spelled.push(found.to_str()?.to_owned());
        path.push(found);
    }
    Some((spelled.join("/"), fs::read(path).ok()?))
}

#[cfg(target_os = "android")]
fn look_up(path: PathBuf, name: &str) -> Option<(String, Vec<u8>)> {
    in_tzdata(&fs::read(path).ok()?, name)
}

/// Looks a zone up in Android's one file for all zones.
///
/// Its header is `tzdata2026a` and a NUL, then where the index, the data and the end of the data are. An entry of
/// the index is 40 bytes of name, then the offset from the data's start and the length, then 4 bytes unused.
#[cfg(any(target_os = "android", test))]
fn in_tzdata(file: &[u8], name: &str) -> Option<(String, Vec<u8>)> {
    let number = |bytes: &[u8], at: usize| {
        let number = bytes.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(number)).ok()
    };
    let (index, data) = (number(file, 12)?, number(file, 16)?);
    let entries = file.get(index..data).filter(|_| file.starts_with(b"tzdata"))?.chunks_exact(52);
    let spelled = |entry: &[u8]| {
        let name = entry[..40].split(|&byte| byte == 0).next()?;
        String::from_utf8(name.to_vec()).ok()
    };
    let mut found = entries.filter_map(|entry| Some((spelled(entry)?, entry)));
    let (name, entry) = found.find(|(spelled, _)| spelled.eq_ignore_ascii_case(name))?;
    let start = data.checked_add(number(entry, 40)?)?;
    let end = start.checked_add(number(entry, 44)?)?;
    Some((name, file.get(start..end)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn offsets_change_when_the_clocks_do() {
        // Seconds since 1970 of a change, and the offsets before and after it.
        for (name, change, before, after) in [
            ("Europe/Berlin", 1_774_746_000, 3600, 7200), // 2026-03-29T01:00Z
            ("Europe/Berlin", 1_792_890_000, 7200, 3600), // 2026-10-25T01:00Z
            ("America/New_York", 1_772_953_200, -18_000, -14_400), // 2026-03-08T07:00Z
            ("America/New_York", 1_793_512_800, -14_400, -18_000), // 2026-11-01T06:00Z
            ("America/New_York", 1_173_596_400, -18_000, -14_400), // 2007-03-11T07:00Z
            ("Australia/Lord_Howe", 1_775_314_800, 39_600, 37_800), // 2026-04-04T15:00Z
            ("Australia/Lord_Howe", 1_791_041_400, 37_800, 39_600), // 2026-10-03T15:30Z
            ("America/Sao_Paulo", 1_550_368_800, -7200, -10_800), // 2019-02-17T02:00Z, the last
            ("Asia/Pyongyang", 1_525_446_000, 30_600, 32_400), // 2018-05-04T15:00Z
            ("Europe/Berlin", 2_531_955_600, 3600, 7200), // 2050-03-27T01:00Z
        ] {
            let zone = Zone::named(name).expect(name);
            let at = |second| zone.offset(SystemTime::UNIX_EPOCH + Duration::from_secs(second));
            assert_eq!((at(change - 1), at(change)), (before, after), "{name} at {change}");
        }
    }

    #[test]
    fn the_variable_holds_a_rule_a_name_or_a_path() {
        let zone = |value: &str| Zone::of_variable(value).expect(value).name;
        assert_eq!(zone("").as_deref(), Some("UTC"));
        assert_eq!(zone(":europe/berlin").as_deref(), Some("Europe/Berlin"));
        assert_eq!(zone("/usr/share/zoneinfo/Asia/Tokyo").as_deref(), Some("Asia/Tokyo"));
        assert_eq!(zone("JST-9"), None);
        assert!(Zone::of_variable("/etc/hostname").is_none());
    }

    #[test]
    fn the_copies_in_a_database_are_no_zones() {
        for name in
            ["posix/Europe/Berlin", "right/Europe/Berlin", "zone.tab", "/Europe/Berlin", "Europe//Berlin"]
        {
            assert_eq!(Zone::named(name).expect_err(name), TimeZoneError::Unknown(name.to_owned()));
        }
    }

    #[test]
    fn a_zone_is_found_in_the_one_file_of_android() {
        let entry = |name: &str, offset: u32, length: u32| {
            let mut entry = name.as_bytes().to_vec();
            entry.resize(40, 0);
            [entry, offset.to_be_bytes().to_vec(), length.to_be_bytes().to_vec(), vec![0; 4]].concat()
        };
        let mut file = b"tzdata2026a\0".to_vec();
        for number in [24, 24 + 3 * 52, 24 + 3 * 52 + 7_u32] {
            file.extend(number.to_be_bytes());
        }
        file.extend(
            [entry("Asia/Tokyo", 0, 3), entry("Europe/Berlin", 3, 4), entry("Broken", 5, 9)].concat(),
        );
        file.extend(b"TYOBERL");

        assert_eq!(in_tzdata(&file, "europe/berlin"), Some(("Europe/Berlin".to_owned(), b"BERL".to_vec())));
        assert_eq!(in_tzdata(&file, "Asia/Tokyo"), Some(("Asia/Tokyo".to_owned(), b"TYO".to_vec())));
        for name in ["Broken", "Mars/Base", ""] {
            assert_eq!(in_tzdata(&file, name), None);
        }
        assert_eq!(in_tzdata(&file[..100], "Asia/Tokyo"), None);
        assert_eq!(in_tzdata(b"", "Asia/Tokyo"), None);
    }
}
