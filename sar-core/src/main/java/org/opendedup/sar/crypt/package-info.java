/**
 * What seals the bytes of an encrypted volume. {@link org.opendedup.sar.crypt.VolumeKeys} derives a key for each
 * {@link org.opendedup.sar.crypt.Purpose} from the master key; {@link org.opendedup.sar.crypt.Sealer} encrypts and
 * authenticates bytes that are written once, {@link org.opendedup.sar.crypt.DeterministicSealer} records and names,
 * {@link org.opendedup.sar.crypt.SectorCipher} sectors of a file that are overwritten in place. Nothing here knows what
 * it seals. docs/SECURITY.md says what this protects, and what not.
 */
@NullMarked
package org.opendedup.sar.crypt;

import org.jspecify.annotations.NullMarked;
