package org.opendedup.sar.sim.estimate;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Files made up from a seed: bytes that compress and such that do not, zeros, and runs of blocks that other files have
 * as well.
 */
final class MadeData {
    static final int BLOCK_BYTES = 4096;
    private static final int POOL_BLOCKS = 3000;
    private static final int MAX_RUN_BLOCKS = 48;

    private final SplittableRandom random;
    /** Blocks that files share; the first ones are taken far more often. */
    private final byte[][] pool = new byte[POOL_BLOCKS][];

    MadeData(long seed) {
        random = new SplittableRandom(seed);
        for (int i = 0; i < POOL_BLOCKS; i++) {
            pool[i] = block();
        }
    }

    /** Makes files of the given numbers of blocks in a folder; returns their paths. */
    List<Path> makeFiles(Path folder, int files, int blocks) throws IOException {
        List<Path> made = new ArrayList<>();
        for (int i = 0; i < files; i++) {
            Path file = folder.resolve("file" + i);
            try (OutputStream out = Files.newOutputStream(file)) {
                write(out, blocks);
            }
            made.add(file);
        }
        return made;
    }

    private void write(OutputStream out, int blocks) throws IOException {
        for (int left = blocks; left > 0; ) {
            int run = Math.min(left, 1 + random.nextInt(MAX_RUN_BLOCKS));
            int kind = random.nextInt(10);
            int first = (int) (POOL_BLOCKS * Math.pow(random.nextDouble(), 3));
            for (int i = 0; i < run; i++) {
                if (kind < 2) {
                    out.write(new byte[BLOCK_BYTES]);
                } else if (kind < 6) {
                    out.write(pool[(first + i) % POOL_BLOCKS]);
                } else {
                    out.write(block());
                }
            }
            left -= run;
        }
    }

    /** A half of the blocks does not compress, the others do, more or less. */
    private byte[] block() {
        byte[] block = new byte[BLOCK_BYTES];
        random.nextBytes(block);
        if (random.nextBoolean()) {
            int mask = (2 << random.nextInt(6)) - 1;
            for (int i = 0; i < block.length; i++) {
                block[i] &= (byte) mask;
            }
        }
        return block;
    }
}
