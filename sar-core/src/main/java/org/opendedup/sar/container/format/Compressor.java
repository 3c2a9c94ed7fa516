package org.opendedup.sar.container.format;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;
import org.jspecify.annotations.Nullable;

/**
 * Compresses with one codec and decompresses with any. Contexts hold native memory and are costly to create, so they
 * are pooled: as many as were ever in use at once. Safe for use by many threads.
 */
public final class Compressor implements Closeable {
    /**
     * Minimum gain, as a right shift: 1/32, about 3 %. With a smaller gain the bytes are stored raw, and are then read
     * without decompressing.
     */
    private static final int MIN_GAIN_SHIFT = 5;

    /**
     * Highest level of zstd at which random bytes cost less than 0.2 ms per MB, about a fifteenth of storing them.
     * Level 6 takes 0.33 ms, level 12 1.4 and level 19 forty; Java archives, which shrink by less than 1/32, twice
     * that.
     */
    private static final int FAST_LEVEL_MAX = 4;

    /**
     * Native memory of a decompression context, in bytes: zstd 1.5 uses up to this, for the largest frames that
     * containers may have.
     */
    public static final long DECOMPRESSION_CONTEXT_BYTES = 128 << 10;

    /**
     * Native memory of a compression context with small tables, in bytes, excluding the part that grows with the frame.
     */
    private static final long CONTEXT_BYTES = 512 << 10;

    private final Compression compression;
    private final ContextPool<ZstdCompressCtx> compressors;
    private final ContextPool<ZstdDecompressCtx> decompressors = new ContextPool<>(ZstdDecompressCtx::new);
    private final LZ4Compressor lz4Compressor = LZ4Factory.fastestInstance().fastCompressor();
    private final LZ4SafeDecompressor lz4Decompressor =
            LZ4Factory.fastestInstance().safeDecompressor();

    /** @param compression codec and level to compress with; its frame size is ignored */
    public Compressor(Compression compression) {
        this.compression = compression;
        compressors = new ContextPool<>(() -> new ZstdCompressCtx().setLevel(compression.level()));
    }

    /**
     * Returns the native memory of a compression context, in bytes; each compressing thread has one. Measured, with
     * some reserve: 0.4 MiB for level 3, 2.4 for level 9 and 4.5 for level 19 with frames of 256 KiB.
     */
    public static long contextBytes(Compression compression) {
        if (compression.codec() != Compression.Codec.ZSTD) {
            return 0;
        }
        int perFrameByte = compression.level() <= 4 ? 2 : compression.level() <= 12 ? 10 : 18;
        return CONTEXT_BYTES + (long) perFrameByte * compression.frameBytes();
    }

    /** Returns the codec of {@link #compress}. */
    public Compression.Codec codec() {
        return compression.codec();
    }

    /**
     * Returns whether it takes long to find out that bytes do not shrink. zstd skips most of them quickly up to level
     * {@value #FAST_LEVEL_MAX}, and LZ4 always.
     */
    public boolean isTrialSlow() {
        return compression.codec() == Compression.Codec.ZSTD && compression.level() > FAST_LEVEL_MAX;
    }

    /** Returns the target room that {@link #compress} needs for {@code bytes} bytes, in bytes. */
    public int bound(int bytes) {
        return switch (compression.codec()) {
            case NONE -> bytes;
            case ZSTD -> (int) Zstd.compressBound(bytes);
            case LZ4 -> lz4Compressor.maxCompressedLength(bytes);
        };
    }

    /** As {@link #compress(byte[], int, int, byte[], int)}, from the first byte of {@code source} on. */
    int compress(byte[] source, int length, byte[] target, int offset) {
        return compress(source, 0, length, target, offset);
    }

    /**
     * Compresses {@code length} bytes of {@code source} into {@code target}, which has {@link #bound} bytes from
     * {@code offset} on. Returns the compressed length in bytes, or 0 if the gain is too small; {@code target} is then
     * undefined.
     */
    public int compress(byte[] source, int from, int length, byte[] target, int offset) {
        int compressed = switch (compression.codec()) {
            case NONE -> length;
            case ZSTD -> compressZstd(source, from, length, target, offset);
            case LZ4 -> lz4Compressor.compress(source, from, length, target, offset, target.length - offset);
        };
        return compressed < length - (length >>> MIN_GAIN_SHIFT) ? compressed : 0;
    }

    private int compressZstd(byte[] source, int from, int length, byte[] target, int offset) {
        ZstdCompressCtx context = compressors.take();
        try {
            return context.compressByteArray(target, offset, target.length - offset, source, from, length);
        } finally {
            compressors.giveBack(context);
        }
    }

    /**
     * Decompresses into {@code target}, which must be filled exactly; returns null on success, else what is wrong with
     * the source.
     */
    public @Nullable String decompress(Compression.Codec codec, byte[] source, int offset, int length, byte[] target) {
        return decompress(codec, source, offset, length, target, target.length);
    }

    /** As the other, but into the first {@code bytes} bytes of {@code target}. */
    @Nullable
    String decompress(Compression.Codec codec, byte[] source, int offset, int length, byte[] target, int bytes) {
        try {
            int decompressed = switch (codec) {
                case NONE -> copy(source, offset, length, target, bytes);
                case ZSTD -> decompressZstd(source, offset, length, target, bytes);
                case LZ4 -> lz4Decompressor.decompress(source, offset, length, target, 0, bytes);
            };
            return decompressed == bytes ? null : decompressed + " bytes";
        } catch (ZstdException | LZ4Exception e) {
            return codec + " data that does not decompress: " + e.getMessage();
        }
    }

    private static int copy(byte[] source, int offset, int length, byte[] target, int bytes) {
        if (length == bytes) {
            System.arraycopy(source, offset, target, 0, length);
        }
        return length;
    }

    private int decompressZstd(byte[] source, int offset, int length, byte[] target, int bytes) {
        ZstdDecompressCtx context = decompressors.take();
        try {
            return context.decompressByteArray(target, 0, bytes, source, offset, length);
        } finally {
            decompressors.giveBack(context);
        }
    }

    /** Frees the idle contexts; the others are freed when they are returned. */
    @Override
    public void close() {
        compressors.close();
        decompressors.close();
    }

    private static final class ContextPool<C extends Closeable> {
        private final Supplier<C> maker;
        private final ConcurrentLinkedQueue<C> free = new ConcurrentLinkedQueue<>();
        private volatile boolean closed;

        ContextPool(Supplier<C> maker) {
            this.maker = maker;
        }

        C take() {
            C context = free.poll();
            return context == null ? maker.get() : context;
        }

        void giveBack(C context) {
            free.add(context);
            if (closed) {
                close();
            }
        }

        void close() {
            closed = true;
            for (C context = free.poll(); context != null; context = free.poll()) {
                closeContext(context);
            }
        }

        private static void closeContext(Closeable context) {
            try {
                context.close();
            } catch (IOException e) {
                throw new AssertionError("freeing memory does no I/O", e);
            }
        }
    }
}
