//! What Android tells without its Java runtime: the system properties and the process's own name.
//!
//! No JNI: the size of the screen and the app's target SDK are for a host that has a `Context`.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

use super::procfs::{cpu_count, memory, storage};
use super::{AppInfo, DeviceInfo, Os, Screen};

/// User ids per user of the device (`UserHandle.PER_USER_RANGE`): uid 1010123 is app 10123 of user 10.
const UIDS_PER_USER: u32 = 100_000;

/// Names of the emulators' boards: classic, current, and Cuttlefish.
const VIRTUAL_HARDWARE: [&str; 3] = ["goldfish", "ranchu", "cutf_cvm"];

pub(super) fn device_info() -> DeviceInfo {
    let properties = Properties::of_system();
    DeviceInfo {
        cpu_count: cpu_count(),
        memory: memory(),
        storage: storage("/data"),
        ..properties.device_info()
    }
}

/// Adds what follows from the package's name: the id where the host does not say it, and the data directory.
pub(super) fn with_package(mut info: AppInfo) -> AppInfo {
    if info.id.is_empty()
        && let Some(name) = &info.process_name
    {
        info.id = package(name).to_owned();
    }
    if let Some(uid) = info.uid
        && !info.id.is_empty()
    {
        info.data_dir = Some(data_dir(uid, &info.id)).filter(|path| Path::new(path).is_dir());
    }
    info
}

/// The IANA name of the zone that the device is set to.
#[cfg(target_os = "android")]
pub(super) fn time_zone() -> Option<String> {
    Properties::of_system().first(&["persist.sys.timezone"])
}

/// A process beside the main one is named `<package>:<suffix>`.
fn package(process_name: &str) -> &str {
    process_name.split(':').next().unwrap_or(process_name)
}

fn data_dir(uid: u32, package: &str) -> String {
    format!("/data/user/{}/{package}", uid / UIDS_PER_USER)
}

/// The system properties that this process may read.
struct Properties(HashMap<String, String>);

impl Properties {
    /// All of them, from one run of `getprop`; none where it cannot be run.
    ///
    /// Asked anew each time: the language is one of them, and the user may change it.
    fn of_system() -> Properties {
        let output = Command::new("/system/bin/getprop").stdin(Stdio::null()).stderr(Stdio::null()).output();
        let text = output.map(|output| output.stdout).unwrap_or_default();
        Properties::parse(&String::from_utf8_lossy(&text))
    }

    /// Parses `getprop`'s lines, `[key]: [value]`. A value that is empty counts as not set.
    fn parse(text: &str) -> Properties {
        let property = |line: &str| {
            let (key, value) = line.trim_end().strip_prefix('[')?.strip_suffix(']')?.split_once("]: [")?;
            (!value.is_empty()).then(|| (key.to_owned(), value.to_owned()))
        };
        Properties(text.lines().filter_map(property).collect())
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    fn first(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.get(key)).map(str::to_owned)
    }

    fn device_info(&self) -> DeviceInfo {
        DeviceInfo {
            manufacturer: self.first(&["ro.product.manufacturer"]),
            brand: self.first(&["ro.product.brand"]),
            model: self.first(&["ro.product.model"]),
            device: self.first(&["ro.product.device"]),
            os: self.os(),
            abis: self.abis(),
            screen: self.screen(),
            locale: self.first(&["persist.sys.locale", "ro.product.locale"]),
            is_emulator: self.is_emulator(),
            ..DeviceInfo::default()
        }
    }

    fn os(&self) -> Os {
        Os {
            name: "Android".to_owned(),
            version: self.first(&["ro.build.version.release"]),
            api_level: self.get("ro.build.version.sdk").and_then(|level| level.parse().ok()),
            build: self.first(&["ro.build.id", "ro.build.display.id"]),
        }
    }

    fn abis(&self) -> Vec<String> {
        let list = self.get("ro.product.cpu.abilist").unwrap_or_else(|| abi(std::env::consts::ARCH));
        list.split(',').map(|abi| abi.trim().to_owned()).filter(|abi| !abi.is_empty()).collect()
    }

    /// The density alone. The emulator's own property overrides the build's, as in `SurfaceFlinger`.
    fn screen(&self) -> Option<Screen> {
        let density = self.get("qemu.sf.lcd_density").or_else(|| self.get("ro.sf.lcd_density"))?;
        Some(Screen { density_dpi: Some(density.parse().ok()?), ..Screen::default() })
    }

    fn is_emulator(&self) -> Option<bool> {
        let qemu = self.get("ro.kernel.qemu") == Some("1") || self.get("ro.boot.qemu") == Some("1");
        let hardware = self.get("ro.hardware");
        // Every device names its hardware. Where it is not told and nothing says qemu, nothing is known.
        let known = qemu || hardware.is_some();
        known.then(|| qemu || hardware.is_some_and(|name| VIRTUAL_HARDWARE.contains(&name)))
    }
}

/// Android's name of an architecture that Rust names.
fn abi(arch: &str) -> &str {
    match arch {
        "aarch64" => "arm64-v8a",
        "arm" => "armeabi-v7a",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIXEL: &str = "\
[persist.sys.locale]: [de-DE]
[ro.boot.qemu]: []
[ro.build.display.id]: [BP2A.250605.031.A2]
[ro.build.id]: [BP2A.250605.031.A2]
[ro.build.version.release]: [16]
[ro.build.version.sdk]: [36]
[ro.hardware]: [zuma]
[ro.product.brand]: [google]
[ro.product.cpu.abilist]: [arm64-v8a,armeabi-v7a,armeabi]
[ro.product.device]: [shiba]
[ro.product.locale]: [en-US]
[ro.product.manufacturer]: [Google]
[ro.product.model]: [Pixel 8]
[ro.sf.lcd_density]: [420]
";

    fn device(getprop: &str) -> DeviceInfo {
        Properties::parse(getprop).device_info()
    }

    #[test]
    fn a_phone_is_told_by_its_properties() {
        assert_eq!(
            device(PIXEL),
            DeviceInfo {
                manufacturer: Some("Google".into()),
                brand: Some("google".into()),
                model: Some("Pixel 8".into()),
                device: Some("shiba".into()),
                os: Os {
                    name: "Android".into(),
                    version: Some("16".into()),
                    api_level: Some(36),
                    build: Some("BP2A.250605.031.A2".into()),
                },
                abis: ["arm64-v8a", "armeabi-v7a", "armeabi"].map(String::from).into(),
                screen: Some(Screen { density_dpi: Some(420), ..Screen::default() }),
                locale: Some("de-DE".into()),
                is_emulator: Some(false),
                ..DeviceInfo::default()
            }
        );
    }

    #[test]
    fn an_emulator_is_told_by_qemu_or_by_its_hardware() {
        for sign in [
            "[ro.kernel.qemu]: [1]",
            "[ro.boot.qemu]: [1]",
            "[ro.hardware]: [ranchu]",
            "[ro.hardware]: [goldfish]",
        ] {
            assert_eq!(device(sign).is_emulator, Some(true), "{sign}");
        }
        assert_eq!(device("[ro.hardware]: [qcom]\n[ro.kernel.qemu]: [0]").is_emulator, Some(false));
        assert_eq!(device("[ro.product.model]: [Phone]").is_emulator, None);
    }

    #[test]
    fn an_emulators_density_overrides_the_builds() {
        let info = device("[ro.sf.lcd_density]: [420]\n[qemu.sf.lcd_density]: [160]\n");
        assert_eq!(info.screen.and_then(|screen| screen.density_dpi), Some(160));
    }

    #[test]
    fn a_value_may_hold_brackets_and_lines_of_other_shapes_are_passed_over() {
        let properties = Properties::parse("[a]: [x]: [y]\r\n[two]: [first\nsecond]\nnoise\n[]\n[b]: [z]\n");
        assert_eq!(properties.get("a"), Some("x]: [y"));
        assert_eq!(properties.get("b"), Some("z"));
        assert_eq!(properties.get("two"), None);
        assert_eq!(properties.0.len(), 2);
    }

    #[test]
    fn a_device_without_properties_is_still_android() {
        let info = device("");
        assert_eq!(info.os, Os { name: "Android".into(), ..Os::default() });
        assert_eq!(info.abis, [abi(std::env::consts::ARCH)]);
        assert_eq!((info.model, info.screen, info.locale, info.is_emulator), (None, None, None, None));
    }

    #[test]
    fn a_device_tells_its_hardware_beside_its_properties() {
        let info = device_info();
        assert_eq!(info.os.name, "Android");
        assert!(info.memory.is_some());
    }

    #[test]
    fn architectures_have_androids_names() {
        let names = ["aarch64", "arm", "x86_64", "x86"].map(abi);
        assert_eq!(names, ["arm64-v8a", "armeabi-v7a", "x86_64", "x86"]);
    }

    #[test]
    fn an_app_that_does_not_say_its_id_has_its_process_name() {
        let app = |id: &str| AppInfo {
            id: id.into(),
            process_name: Some("com.example.app:sync".into()),
            ..AppInfo::default()
        };
        assert_eq!(with_package(app("")).id, "com.example.app");
        assert_eq!(with_package(app("com.example.said")).id, "com.example.said");
    }

    #[test]
    fn a_data_directory_is_the_users_and_only_reported_when_it_is_there() {
        assert_eq!(data_dir(10_123, "com.example.app"), "/data/user/0/com.example.app");
        assert_eq!(data_dir(1_010_123, "com.example.app"), "/data/user/10/com.example.app");
        let app = AppInfo { id: "com.example.app".into(), uid: Some(10_123), ..AppInfo::default() };
        assert_eq!(with_package(app).data_dir, None);
    }
}
