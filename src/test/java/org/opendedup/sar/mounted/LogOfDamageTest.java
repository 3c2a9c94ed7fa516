package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.disks.Bytes;

/** The daemon's log of an unreadable place of a file, however often a program tries to read it. */
class LogOfDamageTest {
    private static final int FILE_BYTES = 1 << 20;
    private static final int PAGE_BYTES = 4096;
    private static final int READS = 100;

    private static final Pattern COUNTED = Pattern.compile(
            " ERROR .*: (\\d+) more times in the last \\d+ s: read /some folder/the file \\(inode \\d+\\): ",
            Pattern.CASE_INSENSITIVE);

    @TempDir
    Path folder;

    @Test
    void aHundredReadsOfABadPlaceAreALineAndACount() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("volume")))) {
            volume.mount();
            Path file = Files.createDirectory(volume.mountPoint().resolve("some folder"))
                    .resolve("the file");
            Bytes.writeAndSync(file, Bytes.random(1, FILE_BYTES));
            volume.unmount();
            PackedContainer.largestIn(volume.data()).flipBitInFrames();
            volume.mount();
            readBadPage(file);
            volume.unmount();

            List<String> lines = Files.readAllLines(volume.log()).stream()
                    .filter(line -> line.contains("ERROR") || line.contains("WARN") || line.startsWith("\t"))
                    .toList();
            long events = 0;
            for (String line : lines) {
                Matcher counted = COUNTED.matcher(line);
                if (counted.find()) {
                    events += Long.parseLong(counted.group(1));
                } else if (line.toLowerCase(Locale.ROOT).contains("read /some folder/the file (inode ")) {
                    events++;
                }
            }
            // The kernel requests a page that it cannot get more than once; each request is an event.
            long all = events;
            assertTrue(all >= READS, () -> all + " events in lines such as " + lines.get(lines.size() - 1));
            assertTrue(lines.size() <= 10, () -> lines.size() + " lines, the last one " + lines.get(lines.size() - 1));
        }
    }

    private static void readBadPage(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            long bad = -1;
            for (long offset = 0; bad < 0 && offset < FILE_BYTES; offset += PAGE_BYTES) {
                try {
                    channel.read(ByteBuffer.allocate(PAGE_BYTES), offset);
                } catch (IOException e) {
                    bad = offset;
                }
            }
            assertTrue(bad >= 0, "the damage was not found");
            long page = bad;
            for (int i = 0; i < READS; i++) {
                IOException refused =
                        assertThrows(IOException.class, () -> channel.read(ByteBuffer.allocate(PAGE_BYTES), page));
                assertEquals("Input/output error", refused.getMessage());
            }
        }
    }
}
