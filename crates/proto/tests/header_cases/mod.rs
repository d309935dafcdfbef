//! HTTP requests with the headers that MCP 2026-07-28 asks for, right and wrong, and what is to come of each.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]
#![allow(clippy::needless_pass_by_value, reason = "values are written where they are passed")]

use serde_json::{Value, json};

/// One request.
pub struct Case {
    /// What is special about it.
    pub name: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    pub status: u16,
    /// The code of the error; `None` for a result.
    pub code: Option<i64>,
}

/// The id of every request.
pub const ID: i64 = 7;

pub const TOOL: &str = "weather";

/// The input schema of the one tool: a header for a string, an integer, a boolean and a nested string.
pub fn input_schema() -> Value {
    json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "days": {"type": "integer", "x-mcp-header": "Days"},
        "metric": {"type": "boolean", "x-mcp-header": "Metric"},
        "place": {"type": "object", "properties": {"town": {"type": "string", "x-mcp-header": "Town"}}},
        "note": {"type": "string"},
    }})
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

fn request(name: &'static str, method: &str, params: &Value) -> Case {
    let body = json!({"jsonrpc": "2.0", "id": ID, "method": method, "params": params}).to_string();
    Case { name, headers: vec![], body, status: 200, code: None }
}

/// A request in the form of 2026-07-28.
fn modern(name: &'static str, method: &str, mut params: Value) -> Case {
    params["_meta"] = json!({VERSION: "2026-07-28", CAPABILITIES: {}});
    let case = request(name, method, &params).with("MCP-Protocol-Version", "2026-07-28");
    let case = case.with("Mcp-Method", method);
    match params["name"].as_str() {
        Some(tool) => case.with("Mcp-Name", tool),
        None => case,
    }
}

/// A call of the tool, without the headers of its arguments.
fn call(name: &'static str, arguments: Value) -> Case {
    modern(name, "tools/call", json!({"name": TOOL, "arguments": arguments}))
}

fn list(name: &'static str) -> Case {
    modern(name, "tools/list", json!({}))
}

/// A request of which only the header says that it is modern.
fn with_meta(name: &'static str, meta: &Value) -> Case {
    let case = request(name, "tools/list", &json!({"_meta": meta}));
    case.with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", "tools/list")
}

impl Case {
    /// With that header, in the place of the one that was there.
    fn with(self, header: &'static str, value: &str) -> Self {
        let mut case = self.without(header);
        case.headers.push((header, value.to_owned()));
        case
    }

    fn without(mut self, header: &str) -> Self {
        self.headers.retain(|(name, _)| !name.eq_ignore_ascii_case(header));
        self
    }

    fn body(mut self, body: &str) -> Self {
        body.clone_into(&mut self.body);
        self
    }

    fn fails(mut self, status: u16, code: i64) -> Self {
        (self.status, self.code) = (status, Some(code));
        self
    }

    fn mismatches(self) -> Self {
        self.fails(400, HEADER_MISMATCH)
    }
}

pub fn cases() -> Vec<Case> {
    [versions(), envelopes(), methods(), names(), strings(), numbers()].into_iter().flatten().collect()
}

/// Which revision a request is of, and what it must say of it.
fn versions() -> Vec<Case> {
    let plain = |name| request(name, "tools/list", &json!({}));
    let both = |name, version: &str| {
        let meta = json!({VERSION: version, CAPABILITIES: {}});
        with_meta(name, &meta).with("MCP-Protocol-Version", version)
    };
    let initialize = |name| {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        request(name, "initialize", &params)
    };
    vec![
        plain("neither header nor _meta: plain"),
        plain("a header of an older revision: plain").with("MCP-Protocol-Version", "2025-06-18"),
        plain("a header of an unknown revision")
            .with("MCP-Protocol-Version", "1900-01-01")
            .fails(400, UNSUPPORTED_VERSION),
        plain("a header that is no revision")
            .with("MCP-Protocol-Version", "x")
            .fails(400, UNSUPPORTED_VERSION),
        initialize("initialize is legacy"),
        initialize("initialize with the header of its revision").with("MCP-Protocol-Version", "2025-11-25"),
        initialize("initialize with a modern header is a modern request without _meta")
            .with("MCP-Protocol-Version", "2026-07-28")
            .fails(400, INVALID_PARAMS),
        list("header and _meta alike"),
        list("blanks around the header").with("MCP-Protocol-Version", " \t2026-07-28 \t"),
        list("only _meta says it").without("MCP-Protocol-Version").mismatches(),
        list("the header says an older one").with("MCP-Protocol-Version", "2025-11-25").mismatches(),
        list("the header says an unknown one").with("MCP-Protocol-Version", "2026-07-29").mismatches(),
        list("the header is empty").with("MCP-Protocol-Version", "").mismatches(),
        list("the header is no ASCII").with("MCP-Protocol-Version", "2026-07-28\u{e9}").mismatches(),
        both("both say an unknown one", "1900-01-01").fails(400, UNSUPPORTED_VERSION),
        both("both say one to come", "2027-01-01").fails(400, UNSUPPORTED_VERSION),
        both("both say one that needs a handshake", "2025-11-25").fails(400, UNSUPPORTED_VERSION),
        with_meta("_meta says an older one", &json!({VERSION: "2025-11-25", CAPABILITIES: {}})).mismatches(),
    ]
}

/// What `_meta` must have.
fn envelopes() -> Vec<Case> {
    let absent = |name, params: &Value| {
        let case = request(name, "tools/list", params).with("MCP-Protocol-Version", "2026-07-28");
        case.with("Mcp-Method", "tools/list").fails(400, INVALID_PARAMS)
    };
    let meta = |name, meta: Value| with_meta(name, &meta).fails(400, INVALID_PARAMS);
    let info = json!({VERSION: "2026-07-28", CAPABILITIES: {}, "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"}});
    vec![
        absent("no _meta", &json!({})),
        absent("no object as _meta", &json!({"_meta": []})),
        absent("no object as params", &json!([])),
        request("no params", "x", &json!({}))
            .body(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#)
            .with("MCP-Protocol-Version", "2026-07-28")
            .with("Mcp-Method", "tools/list")
            .fails(400, INVALID_PARAMS),
        meta("no protocolVersion", json!({CAPABILITIES: {}})),
        meta("no text as protocolVersion", json!({VERSION: 20_260_728, CAPABILITIES: {}})),
        meta("no clientCapabilities", json!({VERSION: "2026-07-28"})),
        meta("no object as clientCapabilities", json!({VERSION: "2026-07-28", CAPABILITIES: true})),
        with_meta("no clientInfo, which may be left out", &json!({VERSION: "2026-07-28", CAPABILITIES: {}})),
        with_meta("clientInfo", &info),
    ]
}

/// `Mcp-Method`, and methods that are not there.
fn methods() -> Vec<Case> {
    let gone = |method| modern("gone or unknown", method, json!({})).fails(404, METHOD_NOT_FOUND);
    vec![
        modern("discover", "server/discover", json!({})),
        list("no Mcp-Method").without("Mcp-Method").mismatches(),
        list("another Mcp-Method").with("Mcp-Method", "tools/call").mismatches(),
        list("Mcp-Method in other case").with("Mcp-Method", "Tools/List").mismatches(),
        list("an empty Mcp-Method").with("Mcp-Method", "").mismatches(),
        list("Mcp-Method in Base64, which is not for it")
            .with("Mcp-Method", "=?base64?dG9vbHMvbGlzdA==?=")
            .mismatches(),
        list("header names in lower case")
            .without("Mcp-Method")
            .without("MCP-Protocol-Version")
            .with("mcp-method", "tools/list")
            .with("mcp-protocol-version", "2026-07-28"),
        list("header names in upper case")
            .without("Mcp-Method")
            .without("MCP-Protocol-Version")
            .with("MCP-METHOD", "tools/list")
            .with("MCP-PROTOCOL-VERSION", "2026-07-28"),
        list("blanks around Mcp-Method").with("Mcp-Method", "  tools/list\t"),
        list("Mcp-Name where there is no name").with("Mcp-Name", "whatever"),
        gone("initialize"),
        gone("ping"),
        gone("logging/setLevel"),
        gone("resources/subscribe"),
        gone("resources/unsubscribe"),
        gone("nothing/at/all"),
        modern("unknown, and Mcp-Method says something else", "nothing", json!({}))
            .with("Mcp-Method", "tools/list")
            .mismatches(),
    ]
}

/// `Mcp-Name`.
fn names() -> Vec<Case> {
    let unknown =
        |name, tool: &str| modern(name, "tools/call", json!({"name": tool})).fails(200, INVALID_PARAMS);
    vec![
        call("as it should be", json!({})),
        call("no Mcp-Name", json!({})).without("Mcp-Name").mismatches(),
        call("another Mcp-Name", json!({})).with("Mcp-Name", "traffic").mismatches(),
        call("Mcp-Name in other case", json!({})).with("Mcp-Name", "Weather").mismatches(),
        call("an empty Mcp-Name", json!({})).with("Mcp-Name", "").mismatches(),
        call("blanks around Mcp-Name", json!({})).with("Mcp-Name", "\t weather "),
        call("Mcp-Name in Base64", json!({})).with("Mcp-Name", "=?base64?d2VhdGhlcg==?="),
        call("Mcp-Name in wrong Base64", json!({})).with("Mcp-Name", "=?base64?d2VhdGhlcg?=").mismatches(),
        call("Mcp-Name is no ASCII", json!({})).with("Mcp-Name", "weather\u{e9}").mismatches(),
        unknown("an unknown tool", "nothing"),
        unknown("an unknown tool whose name needs Base64", "Grüße")
            .with("Mcp-Name", "=?base64?R3LDvMOfZQ==?="),
        unknown("an unknown tool, and Mcp-Name says another", "nothing").with("Mcp-Name", TOOL).mismatches(),
        modern("no name", "tools/call", json!({})).fails(200, INVALID_PARAMS),
        call("no object as arguments", json!([])).fails(200, INVALID_PARAMS),
    ]
}

/// `Mcp-Param-…` of strings.
fn strings() -> Vec<Case> {
    let region = |name, region: &str, header: &str| {
        call(name, json!({"region": region})).with("Mcp-Param-Region", header)
    };
    vec![
        region("a string", "us-west1", "us-west1"),
        region("another string", "us-west1", "us-west2").mismatches(),
        region("a string in other case", "us-west1", "US-WEST1").mismatches(),
        region("blanks around a string", "us-west1", "  us-west1 "),
        region("a blank in it", "us west", "us west"),
        region("an empty string", "", ""),
        call("a string without its header", json!({"region": "us-west1"})).mismatches(),
        call("a header without its string", json!({})).with("Mcp-Param-Region", "us-west1").mismatches(),
        call("null is no value", json!({"region": null})),
        call("a header for null", json!({"region": null})).with("Mcp-Param-Region", "null").mismatches(),
        call("the text null", json!({"region": "null"})).with("Mcp-Param-Region", "null"),
        call("a header's name in upper case", json!({"region": "a"})).with("MCP-PARAM-REGION", "a"),
        call("an argument without an annotation", json!({"note": "a"})),
        call("a header that nobody knows", json!({"note": "a"})).with("Mcp-Param-Note", "b"),
        region("Base64", "us-west1", "=?base64?dXMtd2VzdDE=?="),
        region("Base64 of text beyond ASCII", "Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        region("text beyond ASCII as it is", "Hello, 世界", "Hello, 世界").mismatches(),
        region("Base64 of blanks around", " padded ", "=?base64?IHBhZGRlZCA=?="),
        region("Base64 of a line break", "line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        region("Base64 of what looks like it", "=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        region("what looks like Base64 as it is", "=?base64?literal?=", "=?base64?literal?=").mismatches(),
        region("Base64 of nothing", "", "=?base64??="),
        region("Base64 of another string", "us-west1", "=?base64?dXMtd2VzdDI=?=").mismatches(),
        region("Base64 without padding", "Hello", "=?base64?SGVsbG8?=").mismatches(),
        region("Base64 with too much padding", "Hello", "=?base64?SGVsbG8==?=").mismatches(),
        region("Base64 with stray bits at its end", "Hello", "=?base64?SGVsbG9=?=").mismatches(),
        region("Base64 with characters that are none", "Hello", "=?base64?SGVs!G8=?=").mismatches(),
        region("Base64 of the alphabet for URLs", "\u{fb}\u{ff}", "=?base64?w7vDvw==?="),
        region("Base64 of the other alphabet", "??>", "=?base64?Pz8-?=").mismatches(),
        region("Base64 that is no UTF-8", "\u{fffd}", "=?base64?/w==?=").mismatches(),
        region("no prefix: literal", "SGVsbG8=?=", "SGVsbG8=?="),
        region("no suffix: literal", "=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        region("the prefix in other case: literal", "=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
        region("a literal is not decoded", "Hello", "SGVsbG8=").mismatches(),
        call("a nested string", json!({"place": {"town": "Bern"}})).with("Mcp-Param-Town", "Bern"),
        call("another nested string", json!({"place": {"town": "Bern"}}))
            .with("Mcp-Param-Town", "Basel")
            .mismatches(),
        call("a nested string without its header", json!({"place": {"town": "Bern"}})).mismatches(),
        call("nothing where the nested string would be", json!({"place": 7})),
        // The last of two equal keys is the argument, and the header must say that.
        call("a key twice", json!({}))
            .body(
                &call("", json!({"region": "a"}))
                    .body
                    .replace(r#""region":"a""#, r#""region":"a","region":"b""#),
            )
            .with("Mcp-Param-Region", "b"),
    ]
}

/// `Mcp-Param-…` of integers and booleans.
fn numbers() -> Vec<Case> {
    let days = |name, days: &str, header: &str| {
        let case = call(name, json!({"days": 0}));
        let body = case.body.replace(r#""days":0"#, &format!(r#""days":{days}"#));
        case.body(&body).with("Mcp-Param-Days", header)
    };
    let metric = |name, header: &str| call(name, json!({"metric": true})).with("Mcp-Param-Metric", header);
    vec![
        days("an integer", "42", "42"),
        days("a negative integer", "-7", "-7"),
        days("an integer that is written otherwise", "42", "42.0"),
        days("an integer that is written otherwise in the body", "42.0", "42"),
        days("an integer in Base64", "42", "=?base64?NDI=?="),
        days("another integer", "42", "43").mismatches(),
        days("an integer with something behind", "42", "42 days").mismatches(),
        days("an integer, and an empty header", "42", "").mismatches(),
        days("an integer, and text", "42", "NaN").mismatches(),
        days("the largest safe integer", "9007199254740991", "9007199254740991"),
        days("a neighbour of the largest safe integer", "9007199254740991", "9007199254740990").mismatches(),
        days("neighbours beyond what a double can tell apart", "9007199254740993", "9007199254740992")
            .mismatches(),
        days("a string where an integer should be", r#""42""#, "42"),
        days("a header for null", "null", "0").mismatches(),
        call("an integer without its header", json!({"days": 1})).mismatches(),
        metric("a boolean", "true"),
        metric("another boolean", "false").mismatches(),
        metric("a boolean in other case", "True").mismatches(),
        metric("a boolean as a number", "1").mismatches(),
    ]
}
