//! Session ids that describe their session, so that it outlives a restart of the app.
//!
//! An id is five parts and a checksum, in visible ASCII (MCP 2025-11-25, transports, "Session Management"):
//! `js1.<revision>.<capabilities>.<client>.<random>.<checksum>`. It is no secret and proves nothing: the
//! server asks for no credential either.

use data_encoding::BASE64URL_NOPAD;

use crate::client::{Client, ClientCapabilities, Implementation};
use crate::version::Revision;

const FORMAT: &str = "js1";

/// A client's name and version are kept up to this many bytes each.
const MAX_NAME: usize = 64;

/// An id that this server gave, read back: here, or in a process before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionId {
    pub(crate) revision: Revision,
    pub(crate) client: Client,
}

impl SessionId {
    pub(crate) fn write(revision: Revision, client: &Client, random: u128) -> String {
        let name = client.info.as_ref().map_or_else(String::new, |info| {
            format!("{}\n{}", shortened(&info.name), shortened(&info.version))
        });
        let text = format!(
            "{FORMAT}.{}.{}.{}.{random:032x}",
            revision.as_str(),
            client.capabilities.letters(),
            BASE64URL_NOPAD.encode(name.as_bytes()),
        );
        let checksum = checksum(&text);
        format!("{text}.{checksum:08x}")
    }

    /// `None` when it is not an id of ours, or was changed.
    pub fn parse(text: &str) -> Option<Self> {
        let (described, sum) = text.rsplit_once('.')?;
        if sum != format!("{:08x}", checksum(described)) {
            return None;
        }
        let mut parts = described.split('.');
        if parts.next() != Some(FORMAT) {
            return None;
        }
        let revision = Revision::parse(parts.next()?).filter(|revision| !revision.is_modern())?;
        let capabilities = ClientCapabilities::from_letters(parts.next()?)?;
        let name = String::from_utf8(BASE64URL_NOPAD.decode(parts.next()?.as_bytes()).ok()?).ok()?;
        let info = name.split_once('\n').map(|(name, version)| Implementation {
            name: name.into(),
            title: None,
            version: version.into(),
        });
        let random = parts.next()?;
        (random.len() == 32 && parts.next().is_none())
            .then_some(Self { revision, client: Client { info, capabilities } })
    }
}

/// The longest beginning of `text` that has at most [`MAX_NAME`] bytes.
fn shortened(text: &str) -> &str {
    let end = (0..=MAX_NAME.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// FNV-1a: tells a mistyped or cut id from one of ours.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_what_its_session_is() {
        let client = Client {
            info: Some(Implementation {
                name: "Ünïcode".repeat(30), title: None, version: "1.2\n3".into()
            }),
            capabilities: ClientCapabilities { sampling: true, ..ClientCapabilities::default() },
        };
        let id = SessionId::write(Revision::V2025_06_18, &client, 7);
        assert!(id.bytes().all(|b| (0x21..=0x7e).contains(&b)), "{id}");
        let read = SessionId::parse(&id).unwrap();
        assert_eq!(read.revision, Revision::V2025_06_18);
        assert_eq!(read.client.capabilities, client.capabilities);
        assert!(client.info.unwrap().name.starts_with(&read.client.info.unwrap().name));
    }

    #[test]
    fn a_changed_or_foreign_id_is_not_read() {
        let id = SessionId::write(Revision::V2025_11_25, &Client::default(), u128::MAX);
        assert!(SessionId::parse(&id).is_some());
        assert!(SessionId::parse(&id.replace("2025-11-25", "2025-06-18")).is_none());
        assert!(SessionId::parse(&id[..id.len() - 1]).is_none());
        for foreign in ["", ".", "8d2c5b8e-5a3c-4d0e-9a51-5f6f2b8f7f11", "js1.2025-11-25....00000000"] {
            assert!(SessionId::parse(foreign).is_none());
        }
    }
}
