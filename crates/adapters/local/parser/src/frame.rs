//! Reads and writes frames on a pipe. A frame is a length of four bytes, followed by this number of bytes.

use std::io::{self, Read, Write};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// A frame with a larger length is rejected. Even the facts of the largest file that is parsed are far
/// smaller.
const MAX_FRAME_BYTES: u32 = 512 * 1024 * 1024;

fn check(length: u32) -> io::Result<usize> {
    if length > MAX_FRAME_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a frame has {length} bytes; the limit is {MAX_FRAME_BYTES}"),
        ));
    }
    Ok(length as usize)
}

/// Reads the next frame. Returns `None` at the end of the input.
pub(crate) fn read(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let mut body = vec![0; check(u32::from_le_bytes(length))?];
    input.read_exact(&mut body)?;
    Ok(Some(body))
}

pub(crate) fn write(output: &mut impl Write, body: &[u8]) -> io::Result<()> {
    output.write_all(&(body.len() as u32).to_le_bytes())?;
    output.write_all(body)?;
    output.flush()
}

pub(crate) async fn read_async(input: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut body = vec![0; check(input.read_u32_le().await?)?];
    input.read_exact(&mut body).await?;
    Ok(body)
}

pub(crate) async fn write_async(output: &mut (impl AsyncWrite + Unpin), body: &[u8]) -> io::Result<()> {
    output.write_u32_le(body.len() as u32).await?;
    output.write_all(body).await
}
