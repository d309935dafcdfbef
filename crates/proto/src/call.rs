//! `tools/call`: what the app is asked to run, and what came of it.

use std::sync::Arc;

use crate::client::{Client, Meta};
use crate::content::CallResult;
use crate::error::ErrorObject;
use crate::headers::{Envelope, check_call};
use crate::json::{is_object, string};
use crate::message::{Id, Params};
use crate::notification::Progress;
use crate::offer::Offer;
use crate::tool::Tool;
use crate::version::Revision;

/// A tool that the app should run. Its outcome goes to [`Session::finish`](crate::Session::finish).
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The request's id, by which it is finished and cancelled.
    pub id: Id,
    /// The tool that was asked for.
    pub tool: Arc<Tool>,
    /// JSON text of an object.
    pub arguments: &'a str,
    /// How to report progress, when the client wants to know of it.
    pub progress: Option<Progress>,
    /// The revision that the request was made in.
    pub revision: Revision,
    /// Who made it.
    pub client: Arc<Client>,
}

/// What came of a call: a result (of a failed tool, too), or an error that the client reads.
pub type Outcome = Result<CallResult, ErrorObject>;

/// Finds the tool and its arguments, and checks what the headers say of them.
pub(crate) fn call<'a>(
    id: Id,
    params: &Params<'a>,
    meta: &Meta,
    envelope: Envelope,
    (revision, client): (Revision, Arc<Client>),
    offer: &Offer,
) -> Result<Call<'a>, ErrorObject> {
    let name = params.name.and_then(|name| string(name).ok());
    let name =
        name.ok_or_else(|| ErrorObject::invalid_params(r#""name" must be a string, the name of a tool"#))?;
    let arguments = params.arguments.map_or("{}", |arguments| arguments.get());
    if params.arguments.is_some_and(|arguments| !is_object(arguments)) {
        return Err(ErrorObject::invalid_params(
            r#""arguments" must be an object (it may be left out when there are none)"#,
        ));
    }
    let tool = offer.tools.tool(&name);
    if revision.is_modern() {
        check_call(&envelope, &name, tool.map_or(&[], |tool| &tool.header_params), arguments)?;
    }
    let tool = tool.ok_or_else(|| {
        let known = offer.tools.names();
        ErrorObject::invalid_params(format!("There is no tool {name:?}. The tools are: {known}"))
    })?;
    let progress = meta.progress_token.map(|token| Progress::new(token, revision));
    Ok(Call { id, tool: tool.clone(), arguments, progress, revision, client })
}
