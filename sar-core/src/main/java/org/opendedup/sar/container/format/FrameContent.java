package org.opendedup.sar.container.format;

import org.jspecify.annotations.Nullable;

/** Chunk list and payload of a frame, decrypted if the volume is encrypted. Used again for others. For one thread. */
public final class FrameContent {
    /** Longest memory that is kept, in bytes: for frames of the usual sizes. */
    private static final int MAX_KEPT_BYTES = 512 << 10;

    private static final byte[] NOTHING = {};

    private final ContainerCipher cipher;
    private byte[] memory = {};
    private byte[] bytes = {};
    private int list;
    private int payload;

    public FrameContent(ContainerCipher cipher) {
        this.cipher = cipher;
    }

    /**
     * Opens a frame, whose bytes must not change while its content is used.
     *
     * @param header as {@link FrameFormat#readHeader} read it from that place
     * @return null on success, else what is wrong with the frame, as a noun: the content is then undefined
     */
    public @Nullable String open(byte[] frame, int offset, FrameFormat.Header header) {
        String problem = cipher.problemOf(header.isEncrypted());
        int content = offset + FrameFormat.HEADER_BYTES;
        if (!header.isEncrypted() || problem != null) {
            set(frame, content, header);
            return problem;
        }
        byte[] opened = memory(header);
        boolean isRight = cipher.open(
                header.identity(),
                header.firstSlot(),
                NOTHING,
                frame,
                offset,
                content,
                header.contentBytes(),
                opened,
                0);
        set(opened, 0, header);
        return isRight ? null : ContainerCipher.CHANGED;
    }

    /** Returns memory for the decrypted content of a frame. */
    private byte[] memory(FrameFormat.Header header) {
        int count = header.contentBytes();
        if (memory.length < count) {
            byte[] longer = new byte[count];
            if (count > MAX_KEPT_BYTES) {
                return longer;
            }
            memory = longer;
        }
        return memory;
    }

    private void set(byte[] content, int offset, FrameFormat.Header header) {
        bytes = content;
        list = offset;
        payload = offset + header.listBytes();
    }

    /** Returns an array with the content. */
    public byte[] bytes() {
        return bytes;
    }

    /** Returns where in {@link #bytes} the chunk list begins. */
    public int list() {
        return list;
    }

    /** Returns where in {@link #bytes} the chunk list ends and the payload begins. */
    public int payload() {
        return payload;
    }

    /** Returns a reader of the chunk list; {@code place} names the frame in messages. */
    public ByteReader listReader(Object place) {
        return new ByteReader(bytes, list, payload, place);
    }

    /** Drops the reference to the frame's bytes. */
    void clear() {
        bytes = memory;
    }
}
