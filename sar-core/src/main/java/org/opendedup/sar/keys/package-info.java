/**
 * The key header of an encrypted volume: its random master key, wrapped under up to eight passphrases, key files or
 * outputs of commands ({@link org.opendedup.sar.keys.KeyHeader}), in two copies
 * ({@link org.opendedup.sar.keys.KeyHeaderCopies}). The engine gets only the keys that follow from the master key
 * ({@link org.opendedup.sar.crypt.VolumeKeys}), and knows nothing of this room. docs/FORMAT.md has the bytes.
 */
@NullMarked
package org.opendedup.sar.keys;

import org.jspecify.annotations.NullMarked;
