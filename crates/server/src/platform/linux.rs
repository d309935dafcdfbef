//! What a desktop Linux tells of the machine: DMI or device tree, `os-release`, the locale's variables.
//!
//! It does not guess whether the machine is virtual.

use super::procfs::{cpu_count, memory, storage, text};
use super::{DeviceInfo, Os};

/// What makers of mainboards leave where the machine's name belongs.
const PLACEHOLDERS: [&str; 8] = [
    "To Be Filled By O.E.M.",
    "System manufacturer",
    "System Product Name",
    "Default string",
    "Not Applicable",
    "Not Specified",
    "Unknown",
    "None",
];

pub(super) fn device_info() -> DeviceInfo {
    DeviceInfo {
        manufacturer: dmi("/sys/class/dmi/id/sys_vendor"),
        brand: None,
        model: dmi("/sys/class/dmi/id/product_name").or_else(|| dmi("/proc/device-tree/model")),
        device: None,
        os: os(),
        abis: vec![std::env::consts::ARCH.to_owned()],
        cpu_count: cpu_count(),
        memory: memory(),
        storage: storage("/"),
        screen: None,
        locale: locale(|variable| std::env::var(variable).ok()),
        is_emulator: None,
    }
}

fn dmi(path: &str) -> Option<String> {
    machine_name(&text(path)?)
}

/// A name as DMI (a line) and the device tree (ends with NUL) give it.
fn machine_name(text: &str) -> Option<String> {
    let name = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    let told = !name.is_empty() && !PLACEHOLDERS.iter().any(|blank| blank.eq_ignore_ascii_case(name));
    told.then(|| name.to_owned())
}

fn os() -> Os {
    let release = text("/etc/os-release").or_else(|| text("/usr/lib/os-release")).unwrap_or_default();
    Os {
        // os-release(5): "If not set, a default of NAME=Linux may be used."
        name: release_field(&release, "NAME").unwrap_or_else(|| "Linux".to_owned()),
        version: release_field(&release, "VERSION_ID"),
        api_level: None,
        build: text("/proc/sys/kernel/osrelease").map(|release| release.trim().to_owned()),
    }
}

/// A variable of an `os-release` file, without its shell quotes.
fn release_field(release: &str, key: &str) -> Option<String> {
    let line = release.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
    let quoted = ['"', '\''].iter().find_map(|&quote| line.strip_prefix(quote)?.strip_suffix(quote));
    let mut value = String::with_capacity(line.len());
    let mut rest = quoted.unwrap_or(line).chars();
    while let Some(c) = rest.next() {
        value.extend(if c == '\\' { rest.next() } else { Some(c) });
    }
    (!value.is_empty()).then_some(value)
}

/// The language of messages: the first of POSIX's three variables that is set decides.
fn locale(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    language_tag(&["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set)?)
}

/// `de_DE.UTF-8` as a BCP 47 tag. The C locale is nobody's language.
fn language_tag(locale: &str) -> Option<String> {
    let name = locale.split(['.', '@']).next()?;
    (!matches!(name, "" | "C" | "POSIX")).then(|| name.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_read_without_its_quotes() {
        let release = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n\
                       VERSION_ID='12'\nID=debian\nEMPTY=\nVARIANT=\"a \\\"b\\\" \\$c\"\n";
        assert_eq!(release_field(release, "NAME").as_deref(), Some("Debian GNU/Linux"));
        assert_eq!(release_field(release, "VERSION_ID").as_deref(), Some("12"));
        assert_eq!(release_field(release, "ID").as_deref(), Some("debian"));
        assert_eq!(release_field(release, "VARIANT").as_deref(), Some("a \"b\" $c"));
        assert_eq!(release_field(release, "EMPTY"), None);
        assert_eq!(release_field(release, "BUILD_ID"), None);
    }

    #[test]
    fn a_name_that_the_maker_left_blank_is_absent() {
        assert_eq!(machine_name("LENOVO\n").as_deref(), Some("LENOVO"));
        assert_eq!(
            machine_name("Raspberry Pi 4 Model B Rev 1.4\0").as_deref(),
            Some("Raspberry Pi 4 Model B Rev 1.4")
        );
        for blank in ["", "\n", "To be filled by O.E.M.\n", "Default string\n"] {
            assert_eq!(machine_name(blank), None, "{blank:?}");
        }
    }

    #[test]
    fn the_first_locale_variable_that_is_set_decides() {
        let of = |set: &[(&str, &str)]| {
            locale(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[("LANG", "de_DE.UTF-8")]).as_deref(), Some("de-DE"));
        assert_eq!(of(&[("LANG", "de_DE"), ("LC_ALL", "fr_CH@euro")]).as_deref(), Some("fr-CH"));
        assert_eq!(of(&[("LANG", "eo"), ("LC_ALL", "")]).as_deref(), Some("eo"));
        assert_eq!(of(&[("LANG", "de_DE"), ("LC_ALL", "C.UTF-8")]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn this_machine_tells_its_hardware() {
        let info = device_info();
        assert!(!info.os.name.is_empty());
        assert_eq!(info.abis, [std::env::consts::ARCH]);
        assert!(info.memory.is_some_and(|memory| memory.available_bytes <= Some(memory.total_bytes)));
        assert!(info.storage.is_some_and(|storage| storage.total_bytes > 0));
    }
}
