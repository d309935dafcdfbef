//! The JSON Schemas of the built-in tools, by hand: what is always there is `required`, and everything is described.
//!
//! The texts are for a model that reads the answer; the exact meanings stand at the types in `info` and `time`.

use serde_json::{Value, json};

/// What `system_time` takes.
pub(crate) fn system_time_input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "timezone": text("IANA time zone name such as Europe/Berlin; without it, the device's own zone"),
        },
    })
}

/// What `system_time` answers.
pub(crate) fn system_time_output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "iso8601": text("Local time with its offset from UTC, such as 2026-07-28T12:20:30.456+02:00"),
            "epoch_ms": integer("Milliseconds since 1970-01-01T00:00:00Z"),
            "timezone": text("IANA name of the time zone"),
            "utc_offset_seconds": integer("Seconds that local time is ahead of UTC"),
            "uptime_ms": count("Milliseconds since the device started"),
        },
        "required": ["iso8601", "epoch_ms", "utc_offset_seconds"],
    })
}

/// What `device_info` answers.
pub(crate) fn device_info_output_schema() -> Value {
    json!({
        "type": "object",
        "description": "The device that the app runs on; what it cannot tell is absent",
        "properties": {
            "manufacturer": text("Who made the device"),
            "brand": text("The brand that it is sold under"),
            "model": text("The model that a user knows"),
            "device": text("The design's code name"),
            "os": os(),
            "abis": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Instruction sets that it runs, the preferred one first",
            },
            "cpu_count": count("Logical processors"),
            "memory": {
                "type": "object",
                "description": "The device's main memory",
                "properties": {
                    "total_bytes": count("All that the operating system manages"),
                    "available_bytes": count("What apps could still get without swapping"),
                },
                "required": ["total_bytes"],
            },
            "storage": {
                "type": "object",
                "description": "The file system for apps' data",
                "properties": {
                    "total_bytes": count("Its size"),
                    "available_bytes": count("What an app may still fill"),
                },
                "required": ["total_bytes", "available_bytes"],
            },
            "screen": screen(),
            "locale": text("The user's language, a BCP 47 tag such as de-DE"),
            "is_emulator": flag("Whether the device is an emulator's"),
        },
        "required": ["os"],
    })
}

/// What `app_info` answers.
pub(crate) fn app_info_output_schema() -> Value {
    json!({
        "type": "object",
        "description": "The app and its process; what the platform cannot tell is absent",
        "properties": {
            "id": text("The app's id, such as com.example.app"),
            "name": text("The name that a user sees"),
            "version_name": text("The version that a user sees"),
            "version_code": integer("The number that grows with each release"),
            "debuggable": flag("Whether this is a debug build"),
            "process_name": text("The process's name"),
            "pid": count("The process's id"),
            "uid": count("The id of the user that the process runs as"),
            "uptime_ms": count("Milliseconds since the process started"),
            "started_at": text("When the process started, RFC 3339 in UTC"),
            "memory": {
                "type": "object",
                "description": "The process's memory",
                "properties": {
                    "rss_bytes": count("What of it is in main memory (resident set size)"),
                },
                "required": ["rss_bytes"],
            },
            "target_sdk": count("The Android API level that the app is made for"),
            "data_dir": text("The directory of the app's private files"),
        },
        "required": ["id", "name", "version_name", "debuggable"],
    })
}

fn os() -> Value {
    json!({
        "type": "object",
        "description": "The operating system",
        "properties": {
            "name": text("Its name, such as Android"),
            "version": text("The version that a user knows"),
            "api_level": count("Android's API level"),
            "build": text("Android's build id, elsewhere the kernel's release"),
        },
        "required": ["name"],
    })
}

fn screen() -> Value {
    json!({
        "type": "object",
        "description": "The main screen",
        "properties": {
            "width_px": count("Its width in pixels"),
            "height_px": count("Its height in pixels"),
            "density_dpi": count("Its density in dots per inch"),
        },
    })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn integer(description: &str) -> Value {
    json!({ "type": "integer", "description": description })
}

fn count(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": description })
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::super::time::{SystemTime, SystemTimeArguments, system_time};
    use super::super::{
        AppInfo, AppMemory, DeviceInfo, Host, HostFacts, Memory, Os, Platform, Screen, Storage,
    };
    use super::*;

    fn json_of(value: impl Serialize) -> Value {
        serde_json::to_value(value).expect("the answer is JSON")
    }

    /// What is wrong with `value`. Stricter than JSON Schema: a member that the schema does not declare is wrong too.
    fn faults(schema: &Value, value: &Value, path: &str) -> Vec<String> {
        let right = match schema["type"].as_str() {
            Some("object") => return object_faults(schema, value, path),
            Some("array") => value.as_array().is_some_and(|items| {
                items.iter().all(|item| faults(&schema["items"], item, path).is_empty())
            }),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") if schema["minimum"] == 0 => value.is_u64(),
            Some("integer") => value.is_i64(),
            _ => false,
        };
        if right { vec![] } else { vec![format!("{path}: {value} is not {schema}")] }
    }

    fn object_faults(schema: &Value, value: &Value, path: &str) -> Vec<String> {
        let Some(members) = value.as_object() else {
            return vec![format!("{path}: {value} is not an object")];
        };
        let required = schema["required"].as_array().into_iter().flatten();
        let missing = required.filter_map(Value::as_str).filter(|name| !members.contains_key(*name));
        let mut found: Vec<String> = missing.map(|name| format!("{path}.{name} is missing")).collect();
        for (name, member) in members {
            found.extend(faults(&schema["properties"][name], member, &format!("{path}.{name}")));
        }
        found
    }

    /// Every member that `schema` declares and `value` does not have.
    fn unused(schema: &Value, value: &Value, path: &str) -> Vec<String> {
        let Some(properties) = schema["properties"].as_object() else { return vec![] };
        let nested = properties.iter().flat_map(|(name, property)| {
            let path = format!("{path}.{name}");
            if value.get(name).is_none() { vec![path] } else { unused(property, &value[name], &path) }
        });
        nested.collect()
    }

    fn full_device() -> DeviceInfo {
        DeviceInfo {
            manufacturer: Some("Google".into()),
            brand: Some("google".into()),
            model: Some("Pixel 8".into()),
            device: Some("shiba".into()),
            os: Os {
                name: "Android".into(),
                version: Some("16".into()),
                api_level: Some(36),
                build: Some("BP2A".into()),
            },
            abis: vec!["arm64-v8a".into()],
            cpu_count: Some(9),
            memory: Some(Memory { total_bytes: 8 << 30, available_bytes: Some(2 << 30) }),
            storage: Some(Storage { total_bytes: 128 << 30, available_bytes: 64 << 30 }),
            screen: Some(Screen { width_px: Some(1080), height_px: Some(2400), density_dpi: Some(420) }),
            locale: Some("de-DE".into()),
            is_emulator: Some(false),
        }
    }

    fn full_app() -> AppInfo {
        AppInfo {
            id: "com.example.app".into(),
            name: "Example".into(),
            version_name: "1.2.3".into(),
            version_code: Some(-42),
            debuggable: true,
            process_name: Some("com.example.app".into()),
            pid: Some(4455),
            uid: Some(10_123),
            uptime_ms: Some(1234),
            started_at: Some("2026-07-28T10:20:30.456Z".into()),
            memory: Some(AppMemory { rss_bytes: 100 << 20 }),
            target_sdk: Some(36),
            data_dir: Some("/data/user/0/com.example.app".into()),
        }
    }

    fn full_time() -> SystemTime {
        SystemTime {
            iso8601: "1969-07-20T16:17:40.000-04:00".into(),
            epoch_ms: -14_182_940_000,
            timezone: Some("America/New_York".into()),
            utc_offset_seconds: -14_400,
            uptime_ms: Some(1234),
        }
    }

    #[test]
    fn this_devices_answers_fit_their_schemas() {
        let host = Host::new(HostFacts { id: "com.example.app".into(), ..HostFacts::default() });
        let time = system_time(&SystemTimeArguments::default()).expect("the device's time");
        for (schema, answer) in [
            (device_info_output_schema(), json_of(host.device_info())),
            (app_info_output_schema(), json_of(host.app_info())),
            (system_time_output_schema(), json_of(time)),
        ] {
            assert_eq!(faults(&schema, &answer, ""), Vec::<String>::new(), "{answer:#}");
        }
    }

    #[test]
    fn the_least_that_a_platform_can_tell_fits() {
        for (schema, answer) in [
            (device_info_output_schema(), json_of(DeviceInfo::default())),
            (app_info_output_schema(), json_of(AppInfo::default())),
            (
                system_time_output_schema(),
                json_of(SystemTime { timezone: None, uptime_ms: None, ..full_time() }),
            ),
        ] {
            assert_eq!(faults(&schema, &answer, ""), Vec::<String>::new());
        }
    }

    #[test]
    fn a_schema_declares_what_can_be_told_and_nothing_else() {
        for (schema, answer) in [
            (device_info_output_schema(), json_of(full_device())),
            (app_info_output_schema(), json_of(full_app())),
            (system_time_output_schema(), json_of(full_time())),
        ] {
            assert_eq!(faults(&schema, &answer, ""), Vec::<String>::new());
            assert_eq!(unused(&schema, &answer, ""), Vec::<String>::new());
        }
    }

    #[test]
    fn the_checks_here_find_what_does_not_fit() {
        let fault = |answer: Value| faults(&device_info_output_schema(), &answer, "").len();
        assert_eq!(fault(json!({"os": {"name": "Android"}})), 0);
        for wrong in [
            json!({}),
            json!([]),
            json!({"os": {}}),
            json!({"os": {"name": null}}),
            json!({"os": {"name": "Android"}, "color": "red"}),
            json!({"os": {"name": "Android"}, "cpu_count": -1}),
            json!({"os": {"name": "Android"}, "abis": [1]}),
        ] {
            assert_eq!(fault(wrong.clone()), 1, "{wrong}");
        }
    }
}
