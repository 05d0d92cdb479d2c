//! The head and the body of a small reply, written together.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Up to how many bytes count as small.
const SMALL: usize = 1024;

/// A stream to which small pieces are written as one.
///
/// To send one piece takes the system less time than to gather two, and to copy so few bytes takes next to none. Large
/// pieces are not copied.
#[derive(Debug)]
pub(super) struct InOne<S>(pub(super) S);

/// All pieces one after the other; `None` if they are not small.
fn joined<'a>(pieces: &[IoSlice<'_>], whole: &'a mut [u8; SMALL]) -> Option<&'a [u8]> {
    let mut end = 0;
    for piece in pieces {
        let begin = end;
        end += piece.len();
        whole.get_mut(begin..end)?.copy_from_slice(piece);
    }
    Some(&whole[..end])
}

impl<S: AsyncRead + Unpin> AsyncRead for InOne<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for InOne<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match joined(pieces, &mut [0; SMALL]) {
            Some(whole) => Pin::new(&mut self.0).poll_write(cx, whole),
            None => Pin::new(&mut self.0).poll_write_vectored(cx, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    /// Notes how much each write brought, and takes no more than it has room for.
    #[derive(Debug, Default)]
    struct Noted {
        written: Vec<u8>,
        one: Vec<usize>,
        gathered: Vec<usize>,
        room: Option<usize>,
    }

    impl Noted {
        fn take(&mut self, bytes: &[u8]) -> usize {
            let taken = self.room.map_or(bytes.len(), |room| room.min(bytes.len()));
            self.written.extend_from_slice(&bytes[..taken]);
            taken
        }
    }

    impl AsyncWrite for Noted {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.one.push(bytes.len());
            Poll::Ready(Ok(self.take(bytes)))
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            pieces: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let whole: Vec<u8> = pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
            self.gathered.push(whole.len());
            Poll::Ready(Ok(self.take(&whole)))
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    async fn write(stream: &mut InOne<Noted>, pieces: &[&[u8]]) -> usize {
        let pieces: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        poll_fn(|cx| Pin::new(&mut *stream).poll_write_vectored(cx, &pieces)).await.expect("it can be written to")
    }

    #[tokio::test]
    async fn small_pieces_are_one_write_and_large_ones_are_not_copied() {
        let mut stream = InOne(Noted::default());
        assert_eq!(write(&mut stream, &[b"head", b"", b"body"]).await, 8);
        assert_eq!(stream.0.written, b"headbody");
        let (head, rest) = ([b'h'; 24], [b'b'; SMALL - 24]);
        assert_eq!(write(&mut stream, &[&head, &rest]).await, SMALL);
        assert_eq!(write(&mut stream, &[&head, &rest, b"!"]).await, SMALL + 1);
        assert_eq!((stream.0.one, stream.0.gathered), (vec![8, SMALL], vec![SMALL + 1]));
    }

    #[tokio::test]
    async fn what_found_no_room_is_not_counted_as_written() {
        let mut stream = InOne(Noted { room: Some(6), ..Noted::default() });
        assert_eq!(write(&mut stream, &[b"head", b"body"]).await, 6);
        assert_eq!(stream.0.written, b"headbo");
    }
}
