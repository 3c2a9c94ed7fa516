package org.opendedup.sar.sim.bench;

import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.container.format.RawFrame;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Encoding and decoding of a container's frame of 64 KiB by one thread, in bytes of chunks a microsecond, which is
 * MB/s: with checksum, and encrypted or not. Its eight chunks do not shrink and are not tried, so that all of the time
 * is that of the frame.
 *
 * <pre>
 * scripts/bench jmh FrameEncryptionBenchmark
 * </pre>
 *
 * <p>Last result: docs/BENCHMARKS.md.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class FrameEncryptionBenchmark {
    private static final int FRAME_BYTES = 64 << 10;
    private static final int CHUNKS = 8;

    /** The cipher of the volume. */
    public enum Encryption {
        NONE,
        AES_256_GCM,
        CHACHA20_POLY1305
    }

    @Param({"NONE", "AES_256_GCM", "CHACHA20_POLY1305"})
    public Encryption encryption = Encryption.NONE;

    private final Compressor compressor = new Compressor(new Compression(Compression.Codec.NONE, 0, FRAME_BYTES));
    private final RawFrame raw = new RawFrame(FRAME_BYTES);
    private final Bytes encoded = new Bytes(2 * FRAME_BYTES);
    private final Bytes target = new Bytes(2 * FRAME_BYTES);
    private final byte[] decoded = new byte[FRAME_BYTES];

    private ContainerWriting writing = writing(ContainerCipher.NONE);
    private FrameDecoder decoder = new FrameDecoder(compressor, ContainerCipher.NONE);
    private FrameDecoder.Expected expected = expected();

    @Setup
    public void fill() {
        ContainerCipher cipher = encryption == Encryption.NONE
                ? ContainerCipher.NONE
                : ContainerCipher.of(new VolumeKeys(
                        new byte[VolumeKeys.KEY_BYTES], new UUID(1, 2), AeadCipher.valueOf(encryption.name())));
        writing = writing(cipher);
        decoder = new FrameDecoder(compressor, cipher);
        byte[] chunk = new byte[FRAME_BYTES / CHUNKS];
        new Random(1).nextBytes(chunk);
        raw.start(0);
        for (int i = 0; i < CHUNKS; i++) {
            raw.add(chunk, 0, chunk.length, new byte[Fingerprints.BYTES], 0);
        }
        FrameFormat.encodeRaw(raw, writing, encoded);
        expected = expected();
    }

    private static ContainerWriting writing(ContainerCipher cipher) {
        return new ContainerWriting(cipher, new ContainerIdentity(1, 2, ContainerFormat.FIRST_GENERATION));
    }

    private FrameDecoder.Expected expected() {
        FrameTable.Builder table = new FrameTable.Builder(writing.identity().writing());
        table.add(0, CHUNKS, ContainerFormat.HEADER_BYTES, encoded.length(), FRAME_BYTES);
        return new FrameDecoder.Expected(1, new LocatedTable(1, 0, table.build()), 0);
    }

    @TearDown
    public void close() {
        compressor.close();
    }

    @Benchmark
    @OperationsPerInvocation(FRAME_BYTES)
    public int encode() {
        FrameFormat.encodeRaw(raw, writing, target);
        return target.length();
    }

    @Benchmark
    @OperationsPerInvocation(FRAME_BYTES)
    public Frame decode() throws CorruptionException {
        return decoder.decode(encoded.array(), 0, expected, false, length -> decoded);
    }
}
