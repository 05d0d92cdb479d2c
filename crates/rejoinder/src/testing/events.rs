use bytes::BytesMut;

/// Reads server-sent events from chunks, wherever these end.
#[derive(Debug, Default)]
pub(super) struct Events {
    buffer: BytesMut,
    data: String,
}

impl Events {
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The data of the next event that has arrived whole. Comments and events without data are passed over.
    pub(super) fn next(&mut self) -> Option<String> {
        while let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') {
            let line = self.buffer.split_to(end + 1);
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() && !self.data.is_empty() {
                return Some(std::mem::take(&mut self.data));
            }
            if let Some(data) = line.strip_prefix("data:") {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_wherever_the_chunks_end() {
        let mut events = Events::default();
        let mut read = Vec::new();
        for chunk in ["event: message\nda", "ta: 1\n", "\n: comment\n\ndata: 2\r\ndata:3\r\n\r\ndata: 4\n"] {
            events.push(chunk.as_bytes());
            read.extend(std::iter::from_fn(|| events.next()));
        }
        assert_eq!(read, ["1", "2\n3"]);
    }
}
