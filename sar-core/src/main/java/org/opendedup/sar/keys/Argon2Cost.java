package org.opendedup.sar.keys;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import org.bouncycastle.crypto.generators.Argon2BytesGenerator;
import org.bouncycastle.crypto.params.Argon2Parameters;

/**
 * What it costs to derive a key from a secret by Argon2id (RFC 9106, version 0x13), and so to try a passphrase.
 *
 * @param memoryKib memory in KiB, up to {@value #MOST_MEMORY_KIB}
 * @param passes passes over the memory, up to {@value #MOST_PASSES}
 * @param lanes parts of the memory that could be filled at the same time, up to {@value #MOST_LANES}; this program
 *     fills them one after the other
 */
public record Argon2Cost(int memoryKib, int passes, int lanes) {
    static final int MOST_MEMORY_KIB = 4 << 20;
    static final int MOST_PASSES = 64;
    static final int MOST_LANES = 16;

    /** RFC 9106, 3.1: eight blocks for each lane. */
    private static final int LEAST_KIB_A_LANE = 8;

    /**
     * Most memory of a new cost, in KiB: 256 MiB. In Java, one pass over it takes half a second to a second. The heaps
     * of commands have room for it.
     */
    private static final int NEW_MEMORY_KIB = 256 << 10;

    /**
     * Least memory of a new cost, in KiB, also on a small machine: what RFC 9106, 4 recommends as the second choice.
     */
    private static final int LEAST_NEW_MEMORY_KIB = 64 << 10;

    private static final int MEASURED_KIB = 32 << 10;
    private static final long WANTED_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Memory makes guessing dearer than passes do: it is given up only where one pass would take longer than this. */
    private static final long MOST_NANOS_A_PASS = TimeUnit.SECONDS.toNanos(2);

    /** Of the memory of a machine, a derivation takes at most this part. */
    private static final int MEMORY_PARTS = 4;

    private static final int MOST_NEW_PASSES = 16;

    /** Heap for everything else while a key is derived, and for the headers of the blocks of 1 KiB. */
    private static final long OTHER_HEAP_BYTES = 32 << 20;

    private static final int HEAP_BYTES_A_KIB = 1024 + 24;

    /** @throws IllegalArgumentException if a value is out of its bounds */
    public Argon2Cost {
        if (memoryKib > MOST_MEMORY_KIB
                || passes < 1
                || passes > MOST_PASSES
                || lanes < 1
                || lanes > MOST_LANES
                || memoryKib < LEAST_KIB_A_LANE * lanes) {
            throw new IllegalArgumentException("Argon2id with " + memoryKib + " KiB, " + passes + " passes and " + lanes
                    + " lanes is out of bounds");
        }
    }

    /**
     * Returns a cost of about a second on this machine.
     *
     * @param machineBytes memory of the machine
     */
    public static Argon2Cost measured(long machineBytes) throws IOException {
        var sample = new Argon2Cost(MEASURED_KIB, 1, 1);
        // The first one also compiles the method.
        sample.nanos();
        return fitting(machineBytes, Math.max(1, Math.min(sample.nanos(), sample.nanos()) / MEASURED_KIB));
    }

    /** @param nanosAKib time to fill a KiB, in nanoseconds */
    static Argon2Cost fitting(long machineBytes, long nanosAKib) {
        long memoryKib = Math.min(NEW_MEMORY_KIB, machineBytes / 1024 / MEMORY_PARTS);
        while (nanosAKib * memoryKib > MOST_NANOS_A_PASS) {
            memoryKib /= 2;
        }
        memoryKib = Math.max(LEAST_NEW_MEMORY_KIB, memoryKib);
        long passes = WANTED_NANOS / (nanosAKib * memoryKib);
        return new Argon2Cost((int) memoryKib, (int) Math.max(1, Math.min(MOST_NEW_PASSES, passes)), 1);
    }

    /** Returns the time of a processor, which other programs do not lengthen. */
    private long nanos() throws IOException {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long began = threads.getCurrentThreadCpuTime();
        derive(new byte[1], new byte[KeySlot.SALT_BYTES], KeySlot.KEY_BYTES);
        return threads.getCurrentThreadCpuTime() - began;
    }

    /**
     * Derives a key.
     *
     * @param count bytes of the key
     * @throws IOException if the heap of this JVM is too small
     */
    byte[] derive(byte[] secret, byte[] salt, int count) throws IOException {
        long heapBytes = (long) memoryKib * HEAP_BYTES_A_KIB + OTHER_HEAP_BYTES;
        if (heapBytes > Runtime.getRuntime().maxMemory()) {
            throw new IOException("the passphrases of this volume need " + (heapBytes >> 20)
                    + " MiB of heap, and this JVM has "
                    + (Runtime.getRuntime().maxMemory() >> 20) + ": start it with -Xmx" + (heapBytes >> 20)
                    + "m; a command, with SDFS_COMMAND_JAVA_OPTS=-Xmx" + (heapBytes >> 20) + "m in its environment");
        }
        return derive(
                new Argon2Parameters.Builder(Argon2Parameters.ARGON2_id)
                        .withVersion(Argon2Parameters.ARGON2_VERSION_13)
                        .withSalt(salt),
                secret,
                count);
    }

    /** @param parameters all but the cost */
    byte[] derive(Argon2Parameters.Builder parameters, byte[] secret, int count) {
        var generator = new Argon2BytesGenerator();
        generator.init(parameters
                .withMemoryAsKB(memoryKib)
                .withIterations(passes)
                .withParallelism(lanes)
                .build());
        byte[] key = new byte[count];
        generator.generateBytes(secret, key);
        return key;
    }

    /** Returns how many bytes of memory a derivation fills, in all passes. */
    long bytes() {
        return 1024L * memoryKib * passes;
    }

    /** Returns the cost in words. */
    @Override
    public String toString() {
        return (memoryKib % 1024 == 0 ? memoryKib / 1024 + " MiB" : memoryKib + " KiB") + ", " + passes
                + (passes == 1 ? " pass" : " passes") + (lanes == 1 ? "" : ", " + lanes + " lanes");
    }
}
