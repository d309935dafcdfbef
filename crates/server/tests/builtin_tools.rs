//! The tools that every server has, as a client sees them: what they tell, in which form, and that it is true.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::time::{SystemTime, UNIX_EPOCH};

use jumpseat::{
    AppInfo, AppMemory, DeviceInfo, HostApp, Memory, Os, Platform, Ports, Screen, Server, Storage,
};
use serde_json::{Value, json};
use support::websocket::WebSocket;
use support::{call, post, post_modern, request, start};

const BUILT_IN: [&str; 3] = ["app_info", "device_info", "system_time"];

/// The three descriptors, in the order of their names.
async fn descriptors(port: u16) -> Vec<Value> {
    let list = post(port, &[], request(1, "tools/list", &json!({}))).await.json();
    let tools = list["result"]["tools"].as_array().unwrap();
    let built_in = |tool: &&Value| BUILT_IN.contains(&tool["name"].as_str().unwrap());
    tools.iter().filter(built_in).cloned().collect()
}

/// What is wrong with `value`. Stricter than JSON Schema: a member that the schema does not declare is wrong, too.
fn faults(schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let is_right = match schema["type"].as_str().unwrap_or_else(|| panic!("{path} has no type: {schema}")) {
        "object" => {
            let members = value.as_object().unwrap_or_else(|| panic!("{path} is no object: {value}"));
            let required = schema["required"].as_array().into_iter().flatten();
            let missing = required.filter(|name| !members.contains_key(name.as_str().unwrap()));
            let missing = missing.map(|name| format!("{path}.{name} is missing"));
            let of_members = members.iter().flat_map(|(name, member)| {
                faults(&schema["properties"][name], member, &format!("{path}.{name}"))
            });
            return missing.chain(of_members).collect();
        }
        "array" => {
            let items = value.as_array().unwrap_or_else(|| panic!("{path} is no array: {value}"));
            return items.iter().flat_map(|item| faults(&schema["items"], item, path)).collect();
        }
        "string" => value.as_str().is_some_and(|text| !text.is_empty()),
        "boolean" => value.is_boolean(),
        "integer" => {
            value.as_i64().is_some_and(|n| schema["minimum"].as_i64().is_none_or(|least| n >= least))
        }
        other => panic!("{path} is of type {other}"),
    };
    if is_right { vec![] } else { vec![format!("{path} is {value}, and not {schema}")] }
}

/// Calls a built-in tool, checks the form of its answer, and gives what it tells.
async fn told(port: u16, tool: &str, arguments: &Value) -> Value {
    let reply = post(port, &[], call(1, tool, arguments)).await.json();
    let result = &reply["result"];
    assert_eq!(result.get("isError"), None, "{reply}");
    let told = &result["structuredContent"];
    let content = result["content"].as_array().unwrap();
    assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")));
    let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, *told, "the text is the same JSON");
    let descriptors = descriptors(port).await;
    let descriptor = descriptors.iter().find(|descriptor| descriptor["name"] == tool).unwrap();
    let faults = faults(&descriptor["outputSchema"], told, tool);
    assert!(faults.is_empty(), "{faults:#?}");
    told.clone()
}

#[cfg(target_os = "linux")]
fn file(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[tokio::test]
async fn they_are_listed_with_schemas_and_as_read_only() {
    let server = start();
    let descriptors = descriptors(server.port).await;
    let names: Vec<_> = descriptors.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, BUILT_IN);
    for tool in &descriptors {
        assert!(tool["description"].as_str().is_some_and(|text| text.starts_with("Get ")), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
    }
    assert_eq!(descriptors[2]["inputSchema"]["properties"]["timezone"]["type"], "string");
    assert_eq!(descriptors[2]["inputSchema"].get("required"), None);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn device_info_tells_what_this_machine_can() {
    let server = start();
    let device = told(server.port, "device_info", &json!({})).await;

    let release = file("/etc/os-release");
    let of_release = |key: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.map(|value| json!(value.trim_matches('"'))).unwrap_or_default()
    };
    assert_eq!(device["os"]["name"], of_release("NAME"));
    assert_eq!(device["os"]["version"], of_release("VERSION_ID"));
    assert_eq!(device["os"]["build"], file("/proc/sys/kernel/osrelease").trim());
    assert_eq!(device["abis"], json!([std::env::consts::ARCH]));
    let cpus = std::thread::available_parallelism().unwrap().get();
    assert!(device["cpu_count"].as_u64().unwrap() >= cpus as u64);

    let total = file("/proc/meminfo");
    let total = total.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap();
    let total = total.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024;
    assert_eq!(device["memory"]["total_bytes"], total);
    assert!(device["memory"]["available_bytes"].as_u64().unwrap() < total);
    let storage = rustix::fs::statvfs("/").unwrap();
    assert_eq!(device["storage"]["total_bytes"], storage.f_blocks * storage.f_frsize);
    assert!(device["storage"]["available_bytes"].as_u64() <= device["storage"]["total_bytes"].as_u64());
    for (file, member) in [("sys_vendor", "manufacturer"), ("product_name", "model")] {
        let told = std::fs::read_to_string(format!("/sys/class/dmi/id/{file}")).unwrap_or_default();
        if let Some(device) = device[member].as_str() {
            assert_eq!(device, told.trim());
        }
    }
    // A desktop has neither, and nothing is made up.
    for absent in ["brand", "device", "screen", "is_emulator"] {
        assert_eq!(device.get(absent), None);
    }
    assert_eq!(device["os"].get("api_level"), None);
}

#[tokio::test]
async fn app_info_tells_of_the_app_and_its_process() {
    let app = HostApp::new("com.example.tests", "The tests", "4.5.6-rc1").version_code(456).debuggable(true);
    let server = Server::builder(app).ports(Ports::Fixed(0, 0)).initialize().unwrap();
    let endpoint = server.start_blocking().unwrap().sse_endpoint.unwrap();
    let port = endpoint.rsplit(':').next().unwrap().trim_end_matches("/mcp").parse().unwrap();
    let info = told(port, "app_info", &json!({})).await;
    assert_eq!(info["id"], "com.example.tests");
    assert_eq!(info["name"], "The tests");
    assert_eq!(info["version_name"], "4.5.6-rc1");
    assert_eq!(info["version_code"], 456);
    assert_eq!(info["debuggable"], true);
    assert_eq!(info["pid"], std::process::id());
    let started_at: jiff::Timestamp = info["started_at"].as_str().unwrap().parse().unwrap();
    let age = jiff::Timestamp::now().as_millisecond() - started_at.as_millisecond();
    let uptime = info["uptime_ms"].as_i64().unwrap();
    assert!((age - uptime).abs() < 10_000, "started {age} ms ago, up for {uptime} ms");
    for absent in ["target_sdk", "data_dir"] {
        assert_eq!(info.get(absent), None);
    }
    #[cfg(target_os = "linux")]
    {
        let program = std::env::current_exe().unwrap();
        assert_eq!(info["process_name"], program.file_name().unwrap().to_str().unwrap());
        assert_eq!(info["uid"], rustix::process::getuid().as_raw());
        assert!(info["memory"]["rss_bytes"].as_u64().unwrap() > 1 << 20);
    }
    server.stop().unwrap();
}

#[tokio::test]
async fn app_info_leaves_out_what_the_app_did_not_say() {
    let server = start();
    let info = told(server.port, "app_info", &json!({})).await;
    assert_eq!(info.get("version_code"), None);
    assert_eq!(info["version_name"], "1.2.3");
}

#[tokio::test]
async fn system_time_tells_the_time() {
    let server = start();
    let now = || i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    for arguments in [
        json!({}),
        json!({"timezone": null}),
        json!({"timezone": "UTC"}),
        json!({"timezone": "Asia/Kathmandu"}),
    ] {
        let before = now();
        let time = told(server.port, "system_time", &arguments).await;
        let epoch = time["epoch_ms"].as_i64().unwrap();
        assert!((before..=now()).contains(&epoch), "{time}");
        let local: jiff::Timestamp = time["iso8601"].as_str().unwrap().parse().unwrap();
        assert_eq!(local.as_millisecond(), epoch, "{time}");
        assert!(time["uptime_ms"].as_u64().unwrap() > 0);
    }
}

#[tokio::test]
async fn system_time_tells_the_time_of_a_time_zone() {
    let server = start();
    for (zone, offset, ends) in [
        ("UTC", 0, "+00:00"),
        ("Asia/Kathmandu", 20_700, "+05:45"),
        ("Pacific/Marquesas", -34_200, "-09:30"),
        ("Etc/GMT+12", -43_200, "-12:00"),
    ] {
        let time = told(server.port, "system_time", &json!({"timezone": zone})).await;
        assert_eq!((&time["timezone"], &time["utc_offset_seconds"]), (&json!(zone), &json!(offset)));
        assert!(time["iso8601"].as_str().unwrap().ends_with(ends), "{time}");
    }
}

#[tokio::test]
async fn an_unknown_time_zone_is_a_tool_error_that_says_so() {
    let server = start();
    for zone in ["Mars/Olympus_Mons", "", "europe berlin", "../../etc/passwd", "Etc/Unknown"] {
        let reply = post(server.port, &[], call(1, "system_time", &json!({"timezone": zone}))).await.json();
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        let text = reply["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("unknown time zone") && text.contains(&format!("{zone:?}")), "{text}");
        assert!(text.contains("IANA"), "{text}");
        assert_eq!(reply["result"].get("structuredContent"), None);
    }
    for wrong in [json!(7), json!(["UTC"]), json!({})] {
        let reply = post(server.port, &[], call(1, "system_time", &json!({"timezone": wrong}))).await.json();
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        assert!(reply["result"]["content"][0]["text"].as_str().unwrap().contains("`timezone`"), "{reply}");
    }
}

#[tokio::test]
async fn they_answer_in_every_revision_and_over_a_websocket() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    for tool in BUILT_IN {
        let reply = post_modern(server.port, 1, "tools/call", &json!({"name": tool})).await.json();
        assert!(reply["result"]["structuredContent"].is_object(), "{reply}");
        assert!(socket.ask(call(1, tool, &json!({}))).await["result"]["structuredContent"].is_object());
    }
}

/// What an app knows that the operating system does not tell.
struct Phone;

impl Platform for Phone {
    fn device_info(&self) -> DeviceInfo {
        DeviceInfo {
            manufacturer: Some("Google".into()),
            brand: Some("google".into()),
            model: Some("Pixel 8".into()),
            device: Some("shiba".into()),
            os: Os {
                name: "Android".into(),
                version: Some("16".into()),
                api_level: Some(36),
                build: Some("BP2A.250605".into()),
            },
            abis: vec!["arm64-v8a".into()],
            cpu_count: Some(9),
            memory: Some(Memory { total_bytes: 8 << 30, available_bytes: Some(2 << 30) }),
            storage: Some(Storage { total_bytes: 128 << 30, available_bytes: 100 << 30 }),
            screen: Some(Screen { width_px: Some(1080), height_px: Some(2400), density_dpi: Some(420) }),
            locale: Some("de-DE".into()),
            is_emulator: Some(false),
        }
    }

    fn app_info(&self) -> AppInfo {
        AppInfo {
            id: "com.example.app".into(),
            target_sdk: Some(36),
            data_dir: Some("/data/user/0/com.example.app".into()),
            memory: Some(AppMemory { rss_bytes: 1 << 20 }),
            name: "Example".into(),
            version_name: "1".into(),
            ..AppInfo::default()
        }
    }
}

#[tokio::test]
async fn an_app_that_knows_more_tells_it_in_the_same_form() {
    let server = support::start_with(support::builder().platform(Phone));
    let device = told(server.port, "device_info", &json!({})).await;
    assert_eq!(
        device,
        json!({
            "manufacturer": "Google", "brand": "google", "model": "Pixel 8", "device": "shiba",
            "os": {"name": "Android", "version": "16", "api_level": 36, "build": "BP2A.250605"},
            "abis": ["arm64-v8a"], "cpu_count": 9,
            "memory": {"total_bytes": 8u64 << 30, "available_bytes": 2u64 << 30},
            "storage": {"total_bytes": 128u64 << 30, "available_bytes": 100u64 << 30},
            "screen": {"width_px": 1080, "height_px": 2400, "density_dpi": 420},
            "locale": "de-DE", "is_emulator": false,
        })
    );
    let app = told(server.port, "app_info", &json!({})).await;
    assert_eq!(app["target_sdk"], 36);
    assert_eq!(app["data_dir"], "/data/user/0/com.example.app");
}
