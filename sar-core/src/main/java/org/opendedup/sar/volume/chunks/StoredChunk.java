package org.opendedup.sar.volume.chunks;

/**
 * A chunk of a volume of chunks.
 *
 * @param fingerprint as the client has it
 * @param location its location; see {@link ChunkVolume}
 * @param length its bytes before compression
 * @param references references to it, as the client has counted them
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StoredChunk(byte[] fingerprint, long location, int length, int references) {}
