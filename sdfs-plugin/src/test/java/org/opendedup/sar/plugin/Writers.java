package org.opendedup.sar.plugin;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A process that writes as SDFS does: several threads put chunks and sync. After each sync it says which chunks the
 * thread had put before: thread, first and last number, and their locations. Ends only if it is killed.
 */
public final class Writers {
    private static final int THREADS = 4;
    private static final int CHUNKS_OF_A_SYNC = 20;
    static final long NUMBERS_OF_A_THREAD = 1_000_000;

    private Writers() {}

    /** @param arguments a folder; attributes; and "lie" to say what was not synced: the control */
    public static void main(String[] arguments) throws Exception {
        boolean lies = arguments.length > 2 && arguments[2].equals("lie");
        SarChunkStore store = new SarChunkStore();
        store.init(Host.config(Path.of(arguments[0]), arguments[1]));
        SarHashesMap map = new SarHashesMap();
        map.init(1000, arguments[0], 0.01);
        AtomicLong failures = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            long first = thread * NUMBERS_OF_A_THREAD;
            Thread writer = new Thread(() -> {
                try {
                    write(store, map, first, lies);
                } catch (Exception e) {
                    failures.incrementAndGet();
                    e.printStackTrace(System.out);
                }
            });
            writer.start();
            threads.add(writer);
        }
        for (Thread writer : threads) {
            writer.join();
        }
        System.exit(failures.get() == 0 ? 0 : 1);
    }

    private static void write(SarChunkStore store, SarHashesMap map, long first, boolean lies) throws Exception {
        for (long number = first; number < first + NUMBERS_OF_A_THREAD; ) {
            StringBuilder line = new StringBuilder("synced");
            for (int i = 0; i < CHUNKS_OF_A_SYNC; i++, number++) {
                long location = Chunk.location(map.put(Chunk.of(number).data(1 + number % 3, "file " + first)));
                line.append(' ').append(number).append('@').append(location);
            }
            if (!lies) {
                store.sync();
            }
            synchronized (System.out) {
                System.out.println(line);
                System.out.flush();
            }
        }
    }
}
