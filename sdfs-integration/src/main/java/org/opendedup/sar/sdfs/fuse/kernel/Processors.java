package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * The processors of this machine.
 *
 * @param possible those that can come, also while it runs
 * @param online those that are there
 */
record Processors(BitSet possible, BitSet online) {
    private static final Path FOLDER = Path.of("/sys/devices/system/cpu");

    static Processors ofMachine() throws IOException {
        return new Processors(list("possible"), list("online"));
    }

    private static BitSet list(String file) throws IOException {
        return parse(Files.readString(FOLDER.resolve(file)).strip());
    }

    /** @param list numbers and ranges of the form {@code 0,2-5} */
    static BitSet parse(String list) {
        BitSet processors = new BitSet();
        for (String range : list.split(",")) {
            int dash = range.indexOf('-');
            int last = Integer.parseInt(range.substring(dash + 1));
            int first = dash < 0 ? last : Integer.parseInt(range.substring(0, dash));
            processors.set(first, last + 1);
        }
        return processors;
    }

    /**
     * Makes this thread run on one processor only. Without effect if that processor is not there, or forbidden to this
     * process.
     */
    static void bindThread(Libc libc, int processor) {
        ByteBuffer mask = ByteBuffer.allocateDirect((processor / Long.SIZE + 1) * Long.BYTES)
                .order(ByteOrder.nativeOrder());
        mask.putLong(processor / Long.SIZE * Long.BYTES, 1L << processor);
        libc.functions().sched_setaffinity(0, mask.capacity(), libc.address(mask));
        Reference.reachabilityFence(mask);
    }
}
