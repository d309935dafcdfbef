//! The tools of every transcript: what they are called, and what the simple ones answer.

use jumpseat_proto::{CallResult, Content};
use serde_json::{Value, json};

/// What `tools/list` says of a tool.
pub struct Described {
    pub name: &'static str,
    pub title: Option<&'static str>,
    pub description: &'static str,
    pub input: Value,
    pub output: Option<Value>,
    pub read_only: bool,
}

fn described(name: &'static str, description: &'static str) -> Described {
    Described {
        name,
        title: None,
        description,
        input: json!({"type": "object"}),
        output: None,
        read_only: false,
    }
}

/// The tool that `change` adds and takes away again.
pub fn extra() -> Described {
    described("extra", "Comes and goes")
}

/// The tools in the order that they are registered in, which is not the one that they are listed in.
pub fn all() -> Vec<Described> {
    let echo_input = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let point_output = json!({"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]});
    vec![
        described("wait", "Ends when release is called"),
        Described {
            title: Some("Echo"),
            input: echo_input,
            read_only: true,
            ..described("echo", "Says its arguments as they came")
        },
        described("fail", "Fails"),
        Described { output: Some(point_output), ..described("point", "Structured: an object") },
        Described { output: Some(json!({"type": "array"})), ..described("numbers", "Structured: an array") },
        described("contents", "Every kind of content"),
        described("report", "Reports progress"),
        described("release", "Ends what waits"),
        described("change", "Adds the tool extra, or takes it away"),
    ]
}

/// The steps of `report`: progress, total, message.
pub const STEPS: [(f64, Option<f64>, Option<&str>); 3] =
    [(1.0, Some(2.0), Some("one")), (1.5, Some(2.0), None), (2.0, None, Some("two"))];

/// What `wait` reports when it has begun.
pub const WAITING: (f64, Option<f64>, Option<&str>) = (0.0, None, Some("waiting"));

/// What a tool answers when it has done what it does.
pub fn answer(tool: &str, arguments: &str) -> CallResult {
    match tool {
        "echo" => CallResult::text(arguments),
        "fail" => CallResult::text("it is broken").error(),
        "point" => CallResult::structured(&json!({"x": 1.5})).unwrap(),
        "numbers" => CallResult::structured(&json!([1, 2.5])).unwrap(),
        "contents" => CallResult::content(vec![
            Content::text("text"),
            Content::image(b"image", "image/png"),
            Content::audio(b"audio!", "audio/wav"),
            Content::resource_text("test://text", "text/plain", "resource"),
            Content::resource_blob("test://blob", "application/octet-stream", b"blob"),
            Content::resource_link("test://link", "link"),
        ]),
        other => CallResult::text(format!("{other} is done")),
    }
}
