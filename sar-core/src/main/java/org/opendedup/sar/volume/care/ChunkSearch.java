package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.HashChunk;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.volume.engine.ChunkEngine;

/**
 * Looks up stored chunks by their fingerprints, in the fingerprint index, while the volume is in use. Changes nothing.
 * Safe for use by many threads.
 */
public final class ChunkSearch {
    /** Chunks that one call returns at most. */
    public static final int MOST = 20;

    private final ChunkEngine engine;
    private final ContentHash hash;

    ChunkSearch(ChunkEngine engine, ContentHash hash) {
        this.engine = engine;
        this.hash = hash;
    }

    /**
     * What was found.
     *
     * @param chunks in the order of the fingerprints, at most {@value #MOST}; empty if none is stored
     * @param areMore whether the index has more fingerprints that begin so
     */
    public record Found(List<FoundChunk> chunks, boolean areMore) {}

    /**
     * Finds the chunks whose fingerprints begin with some digits.
     *
     * @param digits hexadecimal. An index that is not ordered by fingerprint needs all of them
     * @throws IllegalArgumentException if these are no digits of a fingerprint; the message says what is needed
     * @throws IOException if the index cannot tell now; the message says why
     */
    public Found find(String digits) throws IOException {
        String wanted = digits.toLowerCase(Locale.ROOT);
        int all = 2 * hash.bytes();
        if (!wanted.matches("[0-9a-f]{1," + all + "}")) {
            throw new IllegalArgumentException("'" + digits + "' is no fingerprint; one has up to " + all
                    + " hexadecimal digits, those of the " + hash + " of a chunk");
        }
        if (!engine.index().keepsAnything()) {
            throw new IOException("the volume is mounted without its fingerprint index, because it is read-only");
        }
        Found found = wanted.length() == all ? whole(wanted) : beginning(wanted);
        if (found.chunks.isEmpty() && engine.rebuilder().condition().updating()) {
            throw new IOException("the fingerprint index is being brought up to date and has no such fingerprint yet;"
                    + " ask again when that is done");
        }
        return found;
    }

    private Found whole(String digits) throws IOException {
        Segment segment = new Segment(0);
        segment.add(0, 0, false);
        byte[] fingerprint = hash.stored(HexFormat.of().parseHex(digits));
        System.arraycopy(fingerprint, 0, segment.fingerprints(), 0, Fingerprints.BYTES);
        engine.index().lookup(segment);
        List<FoundChunk> found = new ArrayList<>();
        add(found, fingerprint, segment.hint(0));
        return new Found(found, false);
    }

    private Found beginning(String digits) throws IOException {
        byte[] from = HexFormat.of().parseHex(digits + "0".repeat(2 * Fingerprints.BYTES - digits.length()));
        List<byte[]> fingerprints = new ArrayList<>();
        List<Long> chunks = new ArrayList<>();
        ChunkIndex index = engine.index();
        boolean isOrdered = index.forEachFrom(from, MOST + 1, (fingerprint, chunk) -> {
            if (Fingerprints.toHex(fingerprint, 0).startsWith(digits)) {
                fingerprints.add(fingerprint.clone());
                chunks.add(chunk);
            }
        });
        if (!isOrdered) {
            throw new IllegalArgumentException(
                    "an index of this class, or of an encrypted volume, finds only whole fingerprints: all "
                            + 2 * hash.bytes() + " digits");
        }
        List<FoundChunk> found = new ArrayList<>();
        for (int i = 0; i < Math.min(MOST, chunks.size()); i++) {
            add(found, fingerprints.get(i), chunks.get(i));
        }
        return new Found(found, chunks.size() > MOST);
    }

    /** Adds what is known of a copy, if it exists: the index may lead to one that was collected. */
    private void add(List<FoundChunk> found, byte[] fingerprint, long copy) throws IOException {
        ReferenceCounts counts = engine.metadata().counts();
        int length = copy == ChunkId.NONE ? 0 : counts.length(copy);
        StoredContainer container = engine.metadata().containers().get(ChunkId.container(copy));
        if (length == 0 || container == null) {
            return;
        }
        found.add(new FoundChunk(
                new HashChunk(copy, Fingerprints.fingerprintPrefix(fingerprint, 0), length, counts.count(copy)),
                HexFormat.of().formatHex(ContentHash.ofClient(fingerprint, 0)),
                container.pack(),
                frame(copy),
                engine.hot().isConfigured() && engine.hot().contains(copy),
                engine.damaged().contains(copy)));
    }

    private int frame(long copy) throws IOException {
        try {
            return engine.containers().frameOf(copy);
        } catch (IOException e) {
            return -1;
        }
    }
}
