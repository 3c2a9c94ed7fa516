package org.opendedup.sar.ingest;

/** A run whose bytes are in an array. */
public record ArrayRun(long start, byte[] bytes, boolean isHelped) implements ByteRun {
    @Override
    public long end() {
        return start + bytes.length;
    }

    @Override
    public void copy(long from, byte[] target, int at, int length) {
        System.arraycopy(bytes, (int) (from - start), target, at, length);
    }
}
