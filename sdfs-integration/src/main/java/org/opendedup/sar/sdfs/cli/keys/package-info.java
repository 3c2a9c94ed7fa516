/**
 * How commands come to the keys of an encrypted volume: where a passphrase comes from
 * ({@link org.opendedup.sar.sdfs.cli.keys.SecretSource}), and what it opens
 * ({@link org.opendedup.sar.sdfs.cli.keys.VolumeKeyHeader}). docs/operations/encryption.md explains it.
 */
@NullMarked
package org.opendedup.sar.sdfs.cli.keys;

import org.jspecify.annotations.NullMarked;
