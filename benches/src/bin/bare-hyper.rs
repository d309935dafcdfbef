//! The floor for HTTP: hyper, one parse, one formatted reply. Not an MCP server.

use std::error::Error;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

fn main() -> Result<(), Box<dyn Error>> {
    jumpseat_benches::serve("http", connection)
}

async fn connection(stream: TcpStream) -> Result<(), Box<dyn Error + Send + Sync>> {
    let service = hyper::service::service_fn(answer);
    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await?;
    Ok(())
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Box<dyn Error + Send + Sync>> {
    let body = request.into_body().collect().await?.to_bytes();
    let mut response = Response::new(Full::default());
    if let Some(reply) = jumpseat_benches::reply(&body)? {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *response.body_mut() = reply.into();
    } else {
        *response.status_mut() = StatusCode::ACCEPTED;
    }
    Ok(response)
}
