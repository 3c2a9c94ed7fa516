package org.opendedup.sar.ssd;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Wants all chunks from the SSD. */
final class FakeRequest implements CopyRequest {
    /** The wanted part of a chunk. */
    record Wanted(long chunkId, int length, int fingerprintPrefix) {}

    private final List<Wanted> wanted;
    private final Map<Integer, byte[]> found = new HashMap<>();

    FakeRequest(List<Wanted> wanted) {
        this.wanted = wanted;
    }

    /** Wants half of each of some chunks of {@link SsdFixture}. */
    static FakeRequest of(long... chunkIds) {
        return new FakeRequest(LongStream.of(chunkIds)
                .mapToObj(id -> {
                    byte[] bytes = SsdFixture.chunk(id);
                    return new Wanted(id, bytes.length / 2, SsdFixture.fingerprintPrefix(bytes));
                })
                .toList());
    }

    @Override
    public int count() {
        return wanted.size();
    }

    @Override
    public boolean isFromSsd(int i) {
        return true;
    }

    @Override
    public long chunkId(int i) {
        return wanted.get(i).chunkId();
    }

    @Override
    public int length(int i) {
        return wanted.get(i).length();
    }

    @Override
    public int fingerprintPrefix(int i) {
        return wanted.get(i).fingerprintPrefix();
    }

    @Override
    public void setData(int i, byte[] bytes, int offset, int length) {
        found.put(i, Arrays.copyOfRange(bytes, offset, offset + length));
    }

    @Override
    public void sendHome(int i) {
        found.remove(i);
    }

    /** All bytes of a chunk; null if it must be read from home. */
    byte @Nullable [] found(int i) {
        return found.get(i);
    }
}
