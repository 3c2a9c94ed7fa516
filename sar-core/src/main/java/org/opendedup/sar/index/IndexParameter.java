package org.opendedup.sar.index;

import org.opendedup.sar.common.ByteSize;

/** A size of an index that a volume may choose instead of the usual one. The papers call all of them parameters. */
public enum IndexParameter {
    /** SiLo: data of a segment, in bytes (section 4.2: 0.5 to 4 MiB). */
    SEGMENT("segment", IndexClass.SILO, true, 64L << 10, 8L << 20),
    /** SiLo: data that a block stands for, in bytes (section 4.2: 8 to 512 MiB). */
    BLOCK("block", IndexClass.SILO, true, 1L << 20, 1L << 30),
    /** SiLo: blocks in the read cache, as many as the memory has room for (section 4.2: 8 to 16). */
    CACHE("cache", IndexClass.SILO, false, 1, 1024),
    /** ChunkStash: the number of entries of a page of which one is in the table; a power of two (section 3.5). */
    SAMPLING("sampling", IndexClass.CHUNKSTASH, false, 1, 1024),
    /** ChunkStash: positions of the table in which a fingerprint can be: 16, 24 or 32 (section 4.4). */
    WIDTH("width", IndexClass.CHUNKSTASH, false, 16, 32);

    private static final int WIDTH_STEP = 8;

    private final String label;
    private final IndexClass index;
    private final boolean isSize;
    private final long least;
    private final long most;

    IndexParameter(String label, IndexClass index, boolean isSize, long least, long most) {
        this.label = label;
        this.index = index;
        this.isSize = isSize;
        this.least = least;
        this.most = most;
    }

    /** Returns the name in options and in the volume's file. */
    public String label() {
        return label;
    }

    /** Returns the class of index that has it. */
    public IndexClass index() {
        return index;
    }

    /** Returns the value as options have it. */
    public String text(long value) {
        return isSize ? ByteSize.exact(value) : Long.toString(value);
    }

    /** Returns which values are allowed, for messages. */
    public String allowed() {
        return switch (this) {
            case SAMPLING -> "a power of two from 1 to " + most;
            case WIDTH -> "16, 24 or 32";
            default -> text(least) + " to " + text(most);
        };
    }

    /** @throws IllegalArgumentException if the value is not allowed; the message says what is */
    long parse(String text) {
        long value;
        try {
            value = isSize ? ByteSize.parse(text) : Long.parseLong(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(label + "=" + text + ": " + label + " is " + allowed(), e);
        }
        boolean isAllowed = value >= least
                && value <= most
                && (this != SAMPLING || Long.bitCount(value) == 1)
                && (this != WIDTH || value % WIDTH_STEP == 0);
        if (!isAllowed) {
            throw new IllegalArgumentException(label + "=" + text + ": " + label + " is " + allowed());
        }
        return value;
    }
}
