//! Who the client is and what it can do: from `initialize`, or from the `_meta` of a modern request.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{ErrorCode, ErrorObject};
use crate::json::{is_number, is_object, is_string, members, string};

/// Name and version of an MCP implementation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implementation {
    /// For programs.
    pub name: String,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its version, in its own scheme.
    #[serde(default)]
    pub version: String,
}

/// What a client says that the server may ask of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own in MCP")]
pub struct ClientCapabilities {
    /// `roots`: the client has folders to name.
    pub roots: bool,
    /// `sampling`: the client can ask its model.
    pub sampling: bool,
    /// `elicitation`: the client can ask its user, by a form.
    pub elicitation: bool,
    /// `elicitation.url`: the client can send its user to a page.
    pub elicitation_url: bool,
}

/// The letters that stand for the capabilities in a session id.
const LETTERS: [char; 4] = ['r', 's', 'e', 'u'];

impl ClientCapabilities {
    pub(crate) fn parse(raw: &RawValue) -> Option<Self> {
        let [roots, sampling, elicitation] =
            members(raw.get(), &["roots", "sampling", "elicitation"]).ok()?;
        let [url] = match elicitation {
            Some(elicitation) => members(elicitation.get(), &["url"]).ok()?,
            None => [None],
        };
        Some(Self {
            roots: roots.is_some(),
            sampling: sampling.is_some(),
            elicitation: elicitation.is_some(),
            elicitation_url: url.is_some(),
        })
    }

    pub(crate) fn letters(self) -> String {
        let has = [self.roots, self.sampling, self.elicitation, self.elicitation_url];
        LETTERS.into_iter().zip(has).filter_map(|(letter, has)| has.then_some(letter)).collect()
    }

    pub(crate) fn from_letters(text: &str) -> Option<Self> {
        text.chars().all(|c| LETTERS.contains(&c)).then(|| Self {
            roots: text.contains('r'),
            sampling: text.contains('s'),
            elicitation: text.contains('e'),
            elicitation_url: text.contains('u'),
        })
    }
}

/// The other side of a session, as far as it said who it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// Name and version, unverified.
    pub info: Option<Implementation>,
    /// What it can be asked for.
    pub capabilities: ClientCapabilities,
}

/// The `_meta` of a request.
#[derive(Default)]
pub(crate) struct Meta<'a> {
    pub(crate) progress_token: Option<&'a RawValue>,
    pub(crate) protocol_version: Option<&'a RawValue>,
    client_info: Option<&'a RawValue>,
    client_capabilities: Option<&'a RawValue>,
}

const META: [&str; 4] = [
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
];

impl<'a> Meta<'a> {
    /// What does not fit is passed over here; a modern request is checked by [`Meta::modern`].
    pub(crate) fn parse(raw: Option<&'a RawValue>) -> Self {
        let found = raw.map(|raw| members(raw.get(), &META));
        let Some(Ok([progress_token, protocol_version, client_info, client_capabilities])) = found else {
            return Self::default();
        };
        let progress_token = progress_token.filter(|token| is_string(token) || is_number(token));
        Self { progress_token, protocol_version, client_info, client_capabilities }
    }

    /// Version and client of a modern request (MCP 2026-07-28, basic, "Per-request protocol fields").
    pub(crate) fn modern(&self) -> Result<(String, Client), ErrorObject> {
        let missing = |key: &str, shape: &str| {
            ErrorObject::new(
                ErrorCode::InvalidEnvelope,
                format!(r#"A request of MCP 2026-07-28 carries "{key}" in params._meta: {shape}"#),
            )
        };
        let version = self.protocol_version.and_then(|version| string(version).ok());
        let version = version.ok_or_else(|| missing(META[1], r#"a string such as "2026-07-28""#))?;
        let capabilities = self.client_capabilities.filter(|raw| is_object(raw));
        let capabilities = capabilities.and_then(ClientCapabilities::parse);
        let capabilities = capabilities.ok_or_else(|| missing(META[3], "an object, {} when it has none"))?;
        let info = self.client_info.and_then(|info| serde_json::from_str(info.get()).ok());
        Ok((version.into_owned(), Client { info, capabilities }))
    }
}
