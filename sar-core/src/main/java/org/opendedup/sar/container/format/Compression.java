package org.opendedup.sar.container.format;

/**
 * How the chunks of a frame are stored.
 *
 * @param codec the compressor
 * @param level the codec's level; ignored for LZ4 and NONE
 * @param frameBytes chunk bytes collected in one frame before it is compressed: 64 KiB by default; a larger value
 *     stores fewer bytes but reads more for one chunk
 */
public record Compression(Codec codec, int level, int frameBytes) {

    /** A frame's compressor (SDFS: chunk-store-compress). Its code is stored in the frame's header. */
    public enum Codec {
        NONE(0),
        ZSTD(1),
        LZ4(2);

        private final int code;

        Codec(int code) {
            this.code = code;
        }

        /** Returns the codec's number in the container format. */
        public int code() {
            return code;
        }
    }
}
