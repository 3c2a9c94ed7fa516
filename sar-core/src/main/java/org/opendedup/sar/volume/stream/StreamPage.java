package org.opendedup.sar.volume.stream;

import java.util.Arrays;

/**
 * A page of a file's recipe as a stream has it: where its bytes come from, in order and without gaps from the page's
 * first byte on; the rest of the page after the last entry is a hole. A page without entries is a hole. Immutable; a
 * struct of arrays.
 */
public final class StreamPage {
    /** Where the bytes of an entry come from. The order of the constants is that of the format. */
    public enum Source {
        /** They are zeros. */
        ZEROS,
        /** They are those of the same file in the base, from {@link #baseOffset} on. */
        BASE,
        /** They are those of a chunk that the stream had or offered before, from {@link #chunkOffset} on. */
        CHUNK
    }

    private final long number;
    private final Source[] sources;
    private final long[] origins;
    private final int[] chunkOffsets;
    private final int[] lengths;

    private StreamPage(long number, Source[] sources, long[] origins, int[] chunkOffsets, int[] lengths) {
        this.number = number;
        this.sources = sources;
        this.origins = origins;
        this.chunkOffsets = chunkOffsets;
        this.lengths = lengths;
    }

    /** Returns the number of the page in its file. */
    public long number() {
        return number;
    }

    /** Returns the number of entries. */
    public int count() {
        return lengths.length;
    }

    public Source source(int entry) {
        return sources[entry];
    }

    /** Returns the offset in the file of the base, in bytes. */
    public long baseOffset(int entry) {
        return origins[entry];
    }

    /** Returns the sender's id of the chunk. */
    public long chunkId(int entry) {
        return origins[entry];
    }

    /** Returns the offset in the chunk, in bytes. */
    public int chunkOffset(int entry) {
        return chunkOffsets[entry];
    }

    /** Returns the number of bytes of an entry. */
    public int length(int entry) {
        return lengths[entry];
    }

    /** Returns the number of bytes that the entries describe. */
    public long bytes() {
        long bytes = 0;
        for (int length : lengths) {
            bytes += length;
        }
        return bytes;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StreamPage that
                && number == that.number
                && Arrays.equals(sources, that.sources)
                && Arrays.equals(origins, that.origins)
                && Arrays.equals(chunkOffsets, that.chunkOffsets)
                && Arrays.equals(lengths, that.lengths);
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(number) + Arrays.hashCode(lengths);
    }

    /** Collects the entries of a page. Neighbours that continue each other become one. */
    public static final class Builder {
        private Source[] sources = new Source[16];
        private long[] origins = new long[16];
        private int[] chunkOffsets = new int[16];
        private int[] lengths = new int[16];
        private int count;

        public Builder addZeros(int length) {
            return add(Source.ZEROS, 0, 0, length);
        }

        public Builder addBase(long offset, int length) {
            return add(Source.BASE, offset, 0, length);
        }

        public Builder addChunk(long chunkId, int chunkOffset, int length) {
            return add(Source.CHUNK, chunkId, chunkOffset, length);
        }

        private Builder add(Source source, long origin, int chunkOffset, int length) {
            if (count > 0 && continues(source, origin, chunkOffset)) {
                lengths[count - 1] += length;
                return this;
            }
            if (count == lengths.length) {
                sources = Arrays.copyOf(sources, 2 * count);
                origins = Arrays.copyOf(origins, 2 * count);
                chunkOffsets = Arrays.copyOf(chunkOffsets, 2 * count);
                lengths = Arrays.copyOf(lengths, 2 * count);
            }
            sources[count] = source;
            origins[count] = origin;
            chunkOffsets[count] = chunkOffset;
            lengths[count++] = length;
            return this;
        }

        private boolean continues(Source source, long origin, int chunkOffset) {
            int last = count - 1;
            return sources[last] == source
                    && switch (source) {
                        case ZEROS -> true;
                        case BASE -> origins[last] + lengths[last] == origin;
                        case CHUNK -> origins[last] == origin && chunkOffsets[last] + lengths[last] == chunkOffset;
                    };
        }

        /** Returns the page, without zeros at its end. Leaves this builder empty. */
        public StreamPage build(long number) {
            if (count > 0 && sources[count - 1] == Source.ZEROS) {
                count--;
            }
            StreamPage page = new StreamPage(
                    number,
                    Arrays.copyOf(sources, count),
                    Arrays.copyOf(origins, count),
                    Arrays.copyOf(chunkOffsets, count),
                    Arrays.copyOf(lengths, count));
            count = 0;
            return page;
        }
    }
}
