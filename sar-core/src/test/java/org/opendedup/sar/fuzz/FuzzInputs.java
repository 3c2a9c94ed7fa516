package org.opendedup.sar.fuzz;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.opendedup.sar.TestSeed;

/**
 * The inputs of a fuzz target: its seeds, and changes of them at random. A target is a class with the public static
 * methods {@code fuzzerTestOneInput(byte[])} and {@code parsers()}.
 */
public final class FuzzInputs {
    private static final int CHANGES_OF_A_SEED = 300;
    /** Values that length fields and counts are compared with. */
    private static final byte[] EDGES = {0, 1, 0x7f, (byte) 0x80, (byte) 0xff};

    private FuzzInputs() {}

    /** Runs a target on all its seeds, on changes of them, and on nothing. Prints the seed of the changes. */
    public static void run(ParserSet parsers) {
        Random random = new Random(TestSeed.next());
        parsers.parse(new byte[0]);
        for (int parser = 0; parser < parsers.names().size(); parser++) {
            parsers.parse(new byte[] {(byte) parser});
        }
        List<byte[]> seeds = parsers.seeds();
        for (byte[] seed : seeds) {
            parsers.parse(seed);
            for (int i = 0; i < CHANGES_OF_A_SEED; i++) {
                parsers.parse(changed(seed, seeds, random));
            }
        }
    }

    /** Returns the input, changed in one to four places; its parser stays. */
    private static byte[] changed(byte[] input, List<byte[]> others, Random random) {
        byte[] result = input.clone();
        for (int changes = 1 + random.nextInt(4); changes > 0 && result.length > 1; changes--) {
            int at = 1 + random.nextInt(result.length - 1);
            switch (random.nextInt(5)) {
                case 0 -> result[at] ^= (byte) (1 << random.nextInt(8));
                case 1 ->
                    Arrays.fill(
                            result, at, Math.min(result.length, at + 1 + random.nextInt(8)), EDGES[random.nextInt(5)]);
                case 2 -> result = Arrays.copyOf(result, at);
                case 3 -> result = Arrays.copyOf(result, result.length + random.nextInt(16));
                default -> {
                    byte[] other = others.get(random.nextInt(others.size()));
                    int count = Math.min(result.length - at, random.nextInt(other.length));
                    System.arraycopy(other, other.length - count, result, at, count);
                }
            }
        }
        return result;
    }

    /**
     * Writes the seeds of targets for a fuzzer: a folder for each target, a file for each seed.
     *
     * @param arguments the folder, then the full names of the targets
     */
    public static void main(String[] arguments) throws Exception {
        for (String target : Arrays.asList(arguments).subList(1, arguments.length)) {
            Path folder = Files.createDirectories(Path.of(arguments[0], target));
            int number = 0;
            for (byte[] seed : parsersOf(Class.forName(target)).seeds()) {
                Files.write(folder.resolve("seed-" + number), seed);
                number++;
            }
        }
    }

    private static ParserSet parsersOf(Class<?> target) throws ReflectiveOperationException {
        return (ParserSet) target.getMethod("parsers").invoke(null);
    }

    /** Returns a file next to a class, as a seed: golden files of formats. */
    public static byte[] resource(Class<?> owner, String name) {
        try (InputStream in = owner.getResourceAsStream(name)) {
            if (in == null) {
                throw new AssertionError("no " + name + " next to " + owner);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
