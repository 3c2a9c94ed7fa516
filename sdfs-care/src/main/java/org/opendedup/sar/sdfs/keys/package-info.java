/**
 * How commands and SDFS's process come to the keys of an encrypted volume: where a passphrase comes from
 * ({@link org.opendedup.sar.sdfs.keys.SecretSource}), and what it opens
 * ({@link org.opendedup.sar.sdfs.keys.VolumeKeyHeader}). docs/operations/encryption.md explains it.
 */
@NullMarked
package org.opendedup.sar.sdfs.keys;

import org.jspecify.annotations.NullMarked;
