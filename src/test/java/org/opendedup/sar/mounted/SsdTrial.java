package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.management.Notification;

/**
 * The SSD of a mounted volume in use, with its administrator watching: the output of commands, JMX and the log when
 * something happens to it.
 */
final class SsdTrial implements AutoCloseable {
    private static final int PAIRS = 8;
    private static final long LIMIT_SECONDS = 60;

    private final MountedVolume volume;
    private final SsdLoad load;
    private final List<Long> pairs;
    private JmxClient jmx;
    private BlockingQueue<Notification> heard;
    private long logMark;

    /** Attaches the SSD at a folder, has chunks promoted to it, and checks that they are read from it. */
    SsdTrial(MountedVolume volume, SsdLoad load, Path ssd) throws Exception {
        this.volume = volume;
        this.load = load;
        jmx = new JmxClient(volume);
        attach(ssd);
        pairs = load.write(PAIRS);
        assertServes();
        heard = jmx.listen();
        logMark = Files.size(volume.log());
    }

    void attach(Path ssd) throws Exception {
        jmx.attach(Files.createDirectories(ssd));
        load.isServedBy(ssd);
        assertEquals("online", state());
    }

    /**
     * The pairs' shared chunks are on the SSD, and a reader gets them from there. A reader waits for an SSD for a
     * quarter of a second only: on a machine that stands still for longer, other pairs are tried.
     */
    void assertServes() throws Exception {
        assertKnowsItsCopies();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        for (long hits = hitsOfAReader(); hits < PAIRS * SsdLoad.SHARED_CHUNKS; hits = hitsOfAReader()) {
            long last = hits;
            assertTrue(System.nanoTime() < deadline, () -> last + " chunks came from the SSD");
            writeOtherPairs();
        }
    }

    private long hitsOfAReader() throws Exception {
        long before = hits();
        load.read(pairs);
        return hits() - before;
    }

    /** Writes other pairs, and waits until the SSD has their shared chunks. */
    private void writeOtherPairs() throws Exception {
        long known = figure("MapTable", "Entries");
        pairs.clear();
        pairs.addAll(load.write(PAIRS));
        await("MapTable", "Entries", known + PAIRS * SsdLoad.SHARED_CHUNKS);
    }

    void assertKnowsItsCopies() throws Exception {
        await("MapTable", "Entries", PAIRS * SsdLoad.SHARED_CHUNKS);
    }

    long hits() throws Exception {
        return (long) jmx.get("DataDistributor", "SsdHits");
    }

    long figure(String type, String attribute) throws Exception {
        return (long) jmx.get(type, attribute);
    }

    void await(String type, String attribute, long least) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        for (long found = figure(type, attribute); found < least; found = figure(type, attribute)) {
            long last = found;
            assertTrue(System.nanoTime() < deadline, () -> attribute + " is " + last + ", not " + least);
            Thread.sleep(20);
        }
    }

    /** Acts on the SSD while a reader and a writer work, and waits until the tier is in a state. */
    void fault(String state, SsdLoad.Step step) throws Exception {
        load.runDuring(pairs, () -> {
            step.run();
            awaitState(state);
        });
    }

    void awaitState(String wanted) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!state().equals(wanted)) {
            assertTrue(System.nanoTime() < deadline, () -> "not " + wanted + "; the log says " + log());
            Thread.sleep(20);
        }
    }

    String state() throws Exception {
        return (String) jmx.get("SsdLog", "State");
    }

    /** The administrator is informed once, in the log and by JMX, and sees the state and its reason. */
    void assertToldOnce(String state, String words) throws Exception {
        List<String> warnings = warnings();
        assertEquals(1, warnings.size(), warnings::toString);
        assertTrue(warnings.get(0).contains(words), warnings::toString);
        Notification first = heard.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertEquals(state, first == null ? null : first.getUserData());
        assertTrue(first.getMessage().contains(words), first::getMessage);
        assertEquals(List.of(), new ArrayList<>(heard));
        String status = volume.run("sar", "status");
        assertTrue(status.contains(state) && status.contains(words), status);
    }

    /** Without the one that comes from the umask of the tests, in whose JVM the daemon runs. */
    List<String> warnings() {
        return log().lines()
                .filter(line -> line.contains(" WARN ") || line.contains(" ERROR "))
                .filter(line -> !line.contains("other users had permissions"))
                .toList();
    }

    /** Lines logged since the watch began. */
    String log() {
        try {
            String whole = Files.readString(volume.log());
            return whole.substring((int) Math.min(whole.length(), logMark));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Unmounts and mounts: every byte is there, and the state and its reason are as expected. */
    void remount(String state, String words) throws Exception {
        remountAfter(() -> {}, state, words);
    }

    /** As above, with an action on the SSD while the volume is not mounted. */
    void remountAfter(SsdLoad.Step step, String state, String words) throws Exception {
        mountAgainAfter(step);
        checkFound(state, state(), words);
    }

    /** As {@link #remountAfter}, with an SSD without a free byte: online until a chunk is promoted, then read-only. */
    void remountFull(SsdLoad.Step step) throws Exception {
        mountAgainAfter(step);
        // It may change during the check: then the later state counts.
        boolean isOnline = warnings().isEmpty() && ((String) jmx.get("SsdLog", "Reason")).isEmpty();
        if (isOnline && state().equals("online")) {
            load.assertAllRight();
        } else {
            checkFound("read-only", state(), "No space left on device");
        }
    }

    private void mountAgainAfter(SsdLoad.Step step) throws Exception {
        jmx.close();
        volume.unmount();
        step.run();
        logMark = Files.size(volume.log());
        volume.mount();
        jmx = new JmxClient(volume);
        heard = jmx.listen();
    }

    private void checkFound(String state, String found, String words) throws Exception {
        assertEquals(state, found);
        String reason = (String) jmx.get("SsdLog", "Reason");
        assertTrue(reason.contains(words) && (!words.isEmpty() || reason.isEmpty()), reason);
        assertEquals(state.equals("online") ? 0 : 1, warnings().size(), warnings()::toString);
        load.assertAllRight();
    }

    /** As {@link #fault}, for actions that do not change the state. */
    void faultToldOf(SsdLoad.Step step) throws Exception {
        load.runDuring(pairs, () -> {
            step.run();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
            while (heard.isEmpty()) {
                assertTrue(System.nanoTime() < deadline, "nothing was told");
                Thread.sleep(20);
            }
        });
    }

    void assertServedFromHome() throws Exception {
        long before = hits();
        load.read(pairs);
        assertEquals(before, hits());
    }

    /** A good SSD in place of the other restores normal operation. */
    void recover(Path good) throws Exception {
        attach(good);
        writeOtherPairs();
        assertServes();
        load.assertAllRight();
    }

    @Override
    public void close() throws Exception {
        jmx.close();
    }
}
