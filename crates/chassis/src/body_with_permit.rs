//! Response body that holds a value until its end, such as the permit of a counted call.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;

/// Body, and the value that is dropped with it.
#[derive(Debug)]
pub struct BodyWithPermit<T> {
    inner: Body,
    _held: T,
}

impl<T> BodyWithPermit<T> {
    /// Holds a value until the body has ended or is dropped.
    pub const fn new(inner: Body, held: T) -> BodyWithPermit<T> {
        BodyWithPermit { inner, _held: held }
    }
}

impl<T: Unpin> http_body::Body for BodyWithPermit<T> {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
