package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.management.Notification;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.report.Json;

/** Damage of a mounted volume from the first failed read to the healed file: what each command and JMX tell. */
@Timeout(550)
class DamageToHealingTest {
    private static final int FILE_BYTES = 5 << 20;
    private static final int PAGE_BYTES = 4096;
    /**
     * A pass that begins before all is written again is followed by another after ten times the time that it took, also
     * if it waited for other processes of the machine.
     */
    private static final int NOTIFIED_SECONDS = 240;

    private static final String DAMAGE = "org.opendedup.sar.volume.damage";

    @TempDir
    Path folder;

    /** Heals by itself soon after it finds damage, or a copy. */
    private MountedVolume make() throws IOException {
        return MountedVolume.make(folder.resolve("pool"))
                .withProperty("sar.heal.delay.ms", 300)
                .mount();
    }

    private static Map<String, Object> damaged(MountedVolume volume) throws IOException {
        Commands.Result listed = volume.cli("damaged", "--json");
        assertEquals(2, listed.exitCode(), listed::output);
        return Json.read(listed.output());
    }

    private static Notification await(MountedVolume volume, BlockingQueue<Notification> heard, String type)
            throws IOException, InterruptedException {
        Notification next = heard.poll(NOTIFIED_SECONDS, TimeUnit.SECONDS);
        while (next != null && !next.getType().equals(type)) {
            next = heard.poll(NOTIFIED_SECONDS, TimeUnit.SECONDS);
        }
        if (next == null) {
            throw new AssertionError("no notification of type " + type + "; " + Files.readString(volume.log()));
        }
        return next;
    }

    /** Reads each page of a file; returns the ranges of those that fail, merged. */
    private static List<String> unreadable(MountedVolume volume, Path file) throws IOException {
        volume.dropKernelCaches();
        List<String> ranges = new ArrayList<>();
        long from = -1;
        try (FileChannel channel = FileChannel.open(file)) {
            for (long at = 0; at <= FILE_BYTES; at += PAGE_BYTES) {
                boolean isBad = at < FILE_BYTES && !canRead(channel, at);
                if (isBad && from < 0) {
                    from = at;
                } else if (!isBad && from >= 0) {
                    ranges.add(from + "-" + at);
                    from = -1;
                }
            }
        }
        return ranges;
    }

    private static boolean canRead(FileChannel channel, long offset) {
        try {
            return channel.read(ByteBuffer.allocate(PAGE_BYTES), offset) == PAGE_BYTES;
        } catch (IOException e) {
            assertEquals("Input/output error", e.getMessage());
            return false;
        }
    }

    /** Returns the pages that the ranges of the list touch, merged. */
    private static List<String> pages(Map<String, Object> file) {
        List<String> pages = new ArrayList<>();
        long from = -1;
        long to = -1;
        for (Map<String, Object> range : Json.objects(file, "ranges")) {
            long first = Json.number(range, "from") / PAGE_BYTES * PAGE_BYTES;
            if (from >= 0 && first > to) {
                pages.add(from + "-" + to);
            }
            from = from < 0 || first > to ? first : from;
            to = (Json.number(range, "to") + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        }
        pages.add(from + "-" + to);
        return pages;
    }

    private static void assertAllIsWell(MountedVolume volume, Path first, byte[] content) throws IOException {
        Commands.Result none = volume.cli("damaged");
        assertEquals(0, none.exitCode(), none::output);
        assertEquals("pool: no damage is known.\n", none.output());
        assertTrue(volume.cli("heal", "--wait").output().contains("No chunk is marked as damaged"));
        volume.dropKernelCaches();
        assertArrayEquals(content, Files.readAllBytes(first));
        assertEquals(0, volume.figure("stats", "damagedChunks"));
    }

    @Test
    void damageIsListedUntilTheContentIsWrittenAgainAndThenGone() throws Exception {
        byte[] content = Bytes.random(1, FILE_BYTES);
        try (MountedVolume volume = make()) {
            Path first = volume.mountPoint().resolve("first");
            Bytes.writeAndSync(first, content);
            Files.createLink(
                    Files.createDirectory(volume.mountPoint().resolve("sub")).resolve("link"), first);
            Files.createLink(volume.mountPoint().resolve("two\nlines"), first);
            Bytes.writeAndSync(volume.mountPoint().resolve("sound"), Bytes.random(2, PAGE_BYTES));
            volume.unmount();
            PackedContainer.largestIn(volume.data()).flipBitInFrames();
            volume.mount();

            assertEquals(0, volume.cli("damaged").exitCode(), "control: nobody has found it yet");
            try (JmxClient jmx = new JmxClient(volume)) {
                BlockingQueue<Notification> heard = jmx.listen("Volume");
                IOException refused = assertThrows(IOException.class, () -> Files.readAllBytes(first));
                assertEquals("Input/output error", refused.getMessage());
                Notification found = await(volume, heard, DAMAGE);
                for (String name : List.of("/first", "/sub/link", "/two\nlines")) {
                    assertTrue(found.getMessage().contains(name), found::getMessage);
                }
                String place = String.valueOf(found.getUserData());
                assertTrue(place.matches("frame \\d+ of container \\d+"), place);
                List<String> lines = Files.readAllLines(volume.log()).stream()
                        .filter(line -> line.contains(place + " cannot be read"))
                        .toList();
                assertEquals(1, lines.size(), lines::toString);
                assertTrue(lines.get(0).contains("ERROR"), lines::toString);
                assertTrue(lines.get(0).contains("/first"), lines::toString);
                assertTrue(lines.get(0).contains("/two\\u000alines"), lines::toString);
                assertList(volume, first, place);
            }
            Map<String, Object> list = damaged(volume);
            volume.remount();
            assertEquals(list, damaged(volume), "after a remount");
            assertThrows(IOException.class, () -> Files.readAllBytes(first), "the control: a request fails");
            try (JmxClient jmx = new JmxClient(volume)) {
                BlockingQueue<Notification> heard = jmx.listen("Volume");
                Bytes.writeAndSync(volume.mountPoint().resolve("second"), content);
                await(volume, heard, DAMAGE + ".none");
                assertTrue((long) jmx.get("Volume", "HealedChunks") > 0);
            }
            assertAllIsWell(volume, first, content);
            assertEquals(0, volume.cli("status").exitCode(), "nothing is left to do");
            volume.remount();
            assertAllIsWell(volume, first, content);
            Commands.Result status = volume.cli("status");
            assertEquals(0, status.exitCode(), status::output);
            assertEquals(0, volume.cli("scrub", "start", "--wait").exitCode());
            assertTrue(Files.readString(volume.log()).contains("damaged chunks are healed"));
            volume.unmount();
        }
    }

    @Test
    void aCheckNamesTheFilesOfAMissingPackWhichAreWholeWhenTheyAreWrittenAgain() throws Exception {
        byte[] content = Bytes.random(3, FILE_BYTES);
        byte[] other = Bytes.random(4, PAGE_BYTES);
        try (MountedVolume volume = make()) {
            Path first = volume.mountPoint().resolve("first");
            Bytes.writeAndSync(first, content);
            Commands.Result sound = volume.cli("check");
            assertEquals(0, sound.exitCode(), sound::output);
            assertTrue(sound.output().contains("no defect was found"), sound::output);
            volume.remount();
            Bytes.writeAndSync(volume.mountPoint().resolve("other"), other);
            volume.unmount();
            Files.delete(PackedContainer.largestIn(volume.data()).pack());
            volume.mount();
            assertThrows(IOException.class, () -> Files.readAllBytes(first), "control: it is missing");
            assertEquals(2, volume.cli("status").exitCode());
            assertEquals(2, volume.cli("damaged").exitCode());
            Commands.Result check = volume.cli("check");
            assertEquals(2, check.exitCode(), check::output);
            assertTrue(check.output().contains("Damaged: /first: " + FILE_BYTES + " bytes"), check::output);
            assertFalse(check.output().contains("/other"), check::output);

            try (JmxClient jmx = new JmxClient(volume)) {
                BlockingQueue<Notification> heard = jmx.listen("Volume");
                Bytes.writeAndSync(volume.mountPoint().resolve("second"), content);
                Commands.Result healed = volume.cli("heal", "--wait", "--json");
                assertEquals(0, healed.exitCode(), healed::output);
                assertEquals(0, Json.number(Json.read(healed.output()), "unhealedChunks"), healed::output);
                await(volume, heard, DAMAGE + ".none");
            }
            Commands.Result after = volume.cli("status");
            assertEquals(0, after.exitCode(), after::output);
            assertAllIsWell(volume, first, content);
            volume.remount();
            assertAllIsWell(volume, first, content);
            assertEquals(0, volume.cli("status").exitCode());
            assertArrayEquals(other, Files.readAllBytes(volume.mountPoint().resolve("other")));
            assertEquals(0, volume.cli("scrub", "start", "--wait").exitCode());
            volume.unmount();
        }
    }

    /** The list has the ranges that cannot be read, and no other. */
    private static void assertList(MountedVolume volume, Path first, String place) throws IOException {
        // The volume heals the sound chunks of the frame by itself after a while; from here on the list stays.
        Commands.Result unhealed = volume.cli("heal", "--wait");
        assertEquals(1, unhealed.exitCode(), unhealed::output);
        assertTrue(unhealed.output().contains("STILL DAMAGED"), unhealed::output);

        Map<String, Object> list = damaged(volume);
        List<Map<String, Object>> files = Json.objects(list, "files");
        assertEquals(1, files.size(), list::toString);
        List<?> paths = (List<?>) files.get(0).get("paths");
        assertEquals(
                List.of("/first", "/sub/link", "/two\nlines"),
                paths.stream().map(String::valueOf).sorted().toList());
        List<String> pages = pages(files.get(0));
        assertEquals(unreadable(volume, first), pages, list::toString);
        Map<String, Object> fault = Json.objects(list, "faults").get(0);
        assertEquals(place, "frame " + fault.get("frame") + " of container " + fault.get("container"));
        assertEquals("a read", fault.get("foundBy"));

        Commands.Result text = volume.cli("damaged");
        assertEquals(2, text.exitCode(), text::output);
        for (String word : List.of("/first", " = /sub/link", "/two\\u000alines", place, " of 1 file")) {
            assertTrue(text.output().contains(word), text::output);
        }
        assertEquals(2, volume.cli("status").exitCode());
    }
}
