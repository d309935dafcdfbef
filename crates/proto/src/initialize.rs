//! The handshake of the revisions up to 2025-11-25, and `server/discover`, which replaced it.

use crate::client::{Client, ClientCapabilities};
use crate::error::ErrorObject;
use crate::json::{ObjectWriter, string};
use crate::message::{Id, Params};
use crate::offer::Offer;
use crate::reply::Reply;
use crate::version::Revision;

/// What an `initialize` agrees on.
pub(crate) fn negotiate(params: &Params) -> Result<(Revision, Client), ErrorObject> {
    let asked = params.protocol_version.and_then(|version| string(version).ok()).ok_or_else(|| {
        ErrorObject::invalid_params(r#""protocolVersion" must be a string, such as "2025-11-25""#)
    })?;
    let capabilities = match params.capabilities {
        None => ClientCapabilities::default(),
        Some(raw) => ClientCapabilities::parse(raw)
            .ok_or_else(|| ErrorObject::invalid_params(r#""capabilities" must be an object"#))?,
    };
    let info = params.client_info.map(|info| serde_json::from_str(info.get())).transpose();
    let info = info.map_err(|error| ErrorObject::invalid_params(format!(r#""clientInfo": {error}"#)))?;
    Ok((Revision::negotiate(&asked), Client { info, capabilities }))
}

pub(crate) fn initialized(id: &Id, revision: Revision, offer: &Offer) -> Reply {
    let mut reply = Reply::result(id, revision, offer, |result| {
        result.value("protocolVersion", revision.as_str());
        Offer::write_capabilities(result);
        result.raw("serverInfo", offer.info());
        offer.write_instructions(result);
    });
    reply.initialized = true;
    reply
}

/// The hints for caches on what may be cached. Tools change while the app runs, a restart of the app tells
/// nobody, and asking again costs next to nothing: so nothing is fresh for long.
pub(crate) fn write_freshness(result: &mut ObjectWriter) {
    result.value("ttlMs", &0);
    result.value("cacheScope", "private");
}

pub(crate) fn discovered(id: &Id, revision: Revision, offer: &Offer) -> Reply {
    Reply::result(id, revision, offer, |result| {
        result.value("supportedVersions", &Revision::ALL.map(Revision::as_str));
        Offer::write_capabilities(result);
        offer.write_instructions(result);
        write_freshness(result);
    })
}
