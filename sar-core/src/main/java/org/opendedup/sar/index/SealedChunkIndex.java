package org.opendedup.sar.index;

import java.io.IOException;
import java.util.BitSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.SectorCipher;
import org.opendedup.sar.crypt.VolumeKeys;

/**
 * The index of an encrypted volume: another index sees each fingerprint encrypted. Who has the index and no key cannot
 * ask it for known content. The same fingerprint is always encrypted in the same way, so it can be looked up; and it
 * can be decrypted, so a scrub and a healing read fingerprints as they are (docs/adr/0103).
 *
 * <p>AES-XTS encrypts both halves of a fingerprint, each on its own. Two fingerprints with an equal half would be
 * recognized by it; no two of SHA-256 are known. Those of a client's MD5 differ in the first half only.
 */
public final class SealedChunkIndex extends ForwardingChunkIndex {
    /** All fingerprints are encrypted as if they were at the same place. */
    private static final long PLACE = 0;

    private final SectorCipher cipher;

    public SealedChunkIndex(ChunkIndex index, VolumeKeys keys) {
        super(index);
        cipher = keys.sectorCipher(Purpose.FINGERPRINTS);
    }

    private void seal(byte[] fingerprints, int offset) {
        cipher.encrypt(PLACE, PLACE, fingerprints, offset, Fingerprints.BYTES);
    }

    private byte[] opened(byte[] sealed) {
        byte[] fingerprint = sealed.clone();
        cipher.decrypt(PLACE, PLACE, fingerprint, 0, Fingerprints.BYTES);
        return fingerprint;
    }

    /** Returns a segment with the same chunks, without their bytes. */
    private Segment sealed(Segment segment) {
        Segment sealed = new Segment(0);
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            sealed.add(segment.offset(chunk), segment.length(chunk), segment.isZero(chunk));
            sealed.setHint(chunk, segment.hint(chunk));
            sealed.setChunkId(chunk, segment.chunkId(chunk));
            sealed.setFresh(chunk, segment.isFresh(chunk));
            if (!segment.isZero(chunk)) {
                int at = Segment.fingerprintOffset(chunk);
                System.arraycopy(segment.fingerprints(), at, sealed.fingerprints(), at, Fingerprints.BYTES);
                seal(sealed.fingerprints(), at);
            }
        }
        return sealed;
    }

    @Override
    public void lookup(Segment segment) throws IOException {
        Segment sealed = sealed(segment);
        super.lookup(sealed);
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (!segment.isZero(chunk)) {
                segment.setHint(chunk, sealed.hint(chunk));
            }
        }
    }

    @Override
    public void insert(Segment segment) throws IOException {
        super.insert(sealed(segment));
    }

    @Override
    public void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        byte[] sealed = new byte[Fingerprints.BYTES];
        System.arraycopy(fingerprints, offset, sealed, 0, Fingerprints.BYTES);
        seal(sealed, 0);
        super.insert(sealed, 0, chunkId);
    }

    @Override
    public void remove(long container, byte[] fingerprints, BitSet slots) throws IOException {
        byte[] sealed = fingerprints.clone();
        slots.stream().forEach(slot -> seal(sealed, slot * Fingerprints.BYTES));
        super.remove(container, sealed, slots);
    }

    @Override
    public byte @Nullable [] forEachAfter(byte @Nullable [] position, int count, EntryVisitor visitor)
            throws IOException {
        return super.forEachAfter(
                position, count, (fingerprint, chunkId) -> visitor.visit(opened(fingerprint), chunkId));
    }

    /** The order of encrypted fingerprints is not that of fingerprints. */
    @Override
    public boolean forEachFrom(byte[] fingerprint, int count, EntryVisitor visitor) {
        return false;
    }

    @Override
    public void sample(RandomGenerator random, EntryVisitor visitor) throws IOException {
        super.sample(random, (fingerprint, chunkId) -> visitor.visit(opened(fingerprint), chunkId));
    }

    @Override
    public void forEachOf(long container, SlotVisitor visitor) throws IOException {
        super.forEachOf(container, (slot, fingerprint) -> visitor.visit(slot, opened(fingerprint)));
    }
}
