package org.opendedup.sar.volume.stream;

import org.opendedup.sar.crypt.VolumeKeys;

/**
 * What seals a stream: the keys of the volume that is sent, and what a receiver needs to get them from a passphrase.
 *
 * @param header the volume's key header as it is stored; whoever has it and a secret of one of its slots has the keys
 */
public record StreamKeys(VolumeKeys keys, byte[] header) {}
