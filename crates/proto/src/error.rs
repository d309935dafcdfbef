//! JSON-RPC errors: what the client reads. (What the model reads is a `CallResult` that says `isError`.)

use std::fmt;

use crate::json::ObjectWriter;

/// Why a request failed, finer than its number on the wire, so that a transport can choose its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// The text is not JSON, not UTF-8, or nested too deep: -32700.
    ParseError,
    /// JSON, but no JSON-RPC 2.0 message: -32600.
    InvalidRequest,
    /// -32601.
    MethodNotFound,
    /// The params do not fit the method: -32602.
    InvalidParams,
    /// The fields in `_meta` that every request of 2026-07-28 carries are missing or malformed: -32602.
    InvalidEnvelope,
    /// The server failed, a handler panicked or took too long: -32603.
    Internal,
    /// An HTTP header is missing, or says something else than the body: -32020 (MCP 2026-07-28).
    HeaderMismatch,
    /// -32022 (MCP 2026-07-28).
    UnsupportedProtocolVersion,
}

impl ErrorCode {
    /// The number on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::ParseError => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams | Self::InvalidEnvelope => -32602,
            Self::Internal => -32603,
            Self::HeaderMismatch => -32020,
            Self::UnsupportedProtocolVersion => -32022,
        }
    }
}

/// The `error` member of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorObject {
    /// What kind of error it is.
    pub code: ErrorCode,
    /// What is wrong, and what is expected.
    pub message: String,
    /// The `data` member as JSON text.
    pub data: Option<String>,
}

impl ErrorObject {
    /// An error without `data`.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidParams, message)
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    pub(crate) fn parse_error(reason: impl fmt::Display) -> Self {
        Self::new(ErrorCode::ParseError, format!("The message is not valid JSON: {reason}"))
    }

    pub(crate) fn write(&self, buffer: &mut Vec<u8>) {
        let mut error = ObjectWriter::begin(buffer);
        error.value("code", &self.code.number());
        error.value("message", &self.message);
        if let Some(data) = &self.data {
            error.raw("data", data);
        }
        error.end();
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code.number())
    }
}

impl std::error::Error for ErrorObject {}
