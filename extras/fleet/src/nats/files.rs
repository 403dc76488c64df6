//! Files by their hashes.

use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;

use super::{NatsStore, hex, unknown};
use crate::store::StoreError;

/// The largest file, in bytes. It is held in memory.
pub const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

impl NatsStore {
    /// Stores a file, unless it is there, and returns its hash.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no answer comes.
    pub async fn put_file(&self, bytes: &[u8]) -> Result<String, StoreError> {
        let hash = hex(&Sha256::digest(bytes));
        if self.0.files.info(&hash).await.is_ok_and(|info| info.size == bytes.len()) {
            return Ok(hash);
        }
        let mut reader = bytes;
        self.0.files.put(hash.as_str(), &mut reader).await.map_err(|error| self.unknown(error))?;
        Ok(hash)
    }

    /// A file by its hash.
    pub(super) async fn read_file(&self, hash: &str) -> Result<Vec<u8>, StoreError> {
        let stored = self.0.files.get(hash).await.map_err(unknown)?;
        if stored.info().size as u64 > FILE_BYTES_MAX {
            return Err(unknown(format!("the file {hash} is larger than 256 MiB")));
        }
        // What it says of itself may be wrong.
        let mut bytes = Vec::new();
        stored.take(FILE_BYTES_MAX).read_to_end(&mut bytes).await.map_err(unknown)?;
        if hex(&Sha256::digest(&bytes)) != hash {
            return Err(unknown(format!("the file {hash} is not what was stored")));
        }
        Ok(bytes)
    }
}
