package org.opendedup.sar.mounted;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.keys.Argon2Cost;
import org.opendedup.sar.keys.KeyException;
import org.opendedup.sar.keys.KeyHeader;
import org.opendedup.sar.keys.KeyHeaderCopies;
import org.opendedup.sar.keys.Secret;

/**
 * Kills real processes of {@code sdfscli VOLUME key} with SIGKILL: the volume opens with the passphrases of before or
 * after the change. What a power cut leaves is in KeyHeaderCopiesTest.
 */
@Timeout(240)
class KeyCommandKillTest {
    private static final int KILLS = 12;
    private static final String OLD = MountedVolume.PASSPHRASE;
    private static final String SECOND = "of the second slot";
    private static final String NEW = "of the new slot";
    /** The derivation of a real cost takes a second; the new slots have it. */
    private static final Argon2Cost CHEAP = new Argon2Cost(64, 1, 1);

    private static final int LONGEST_COMMAND_MS = 4000;
    private static final int POLL_NANOS = 20_000;

    @TempDir
    Path folder;

    private MountedVolume volume;
    private Path data;
    private Path metadata;
    private KeyHeader before;

    @BeforeEach
    void makeAVolumeWithCheapSlots() throws IOException {
        volume = MountedVolume.makeWith(folder.resolve("pool0"), "--encrypt");
        data = volume.data().resolve(KeyHeader.NAME);
        metadata = volume.metadata().resolve(KeyHeader.NAME);
        try (KeyHeaderCopies.Unlocked unlocked = copies().read(null).open(secret(OLD))) {
            byte[] master = unlocked.opened().master();
            before = unlocked.header()
                    .withSecret(master, 0, Instant.now(), CHEAP, secret(OLD))
                    .withSlot(master, "", Instant.now(), CHEAP, secret(SECOND));
        }
    }

    private KeyHeaderCopies copies() throws IOException {
        return KeyHeaderCopies.in(data.getParent(), metadata.getParent());
    }

    private static Secret secret(String passphrase) {
        return new Secret(Secret.Kind.PASSPHRASE, passphrase.getBytes(UTF_8));
    }

    @Test
    void aKilledCommandLeavesTheOldHeaderOrTheNewOne() throws Exception {
        var random = new Random(TestSeed.next());
        int changed = 0;
        int partly = 0;
        for (int round = 0; round < TestSeed.rounds(KILLS); round++) {
            assertEquals(List.of(), copies().write(before, null));
            List<String> words = List.of(List.of("add"), List.of("remove", "1"), List.of("change"))
                    .get(round % 3);
            kill(new ProcessBuilder(command(words)), random);
            String done = words.get(0);
            boolean isChanged = copies().read(null).header().generation() != before.generation();
            assertEquals(!isChanged || !done.equals("change"), opens(OLD), done);
            assertEquals(!isChanged || !done.equals("remove"), opens(SECOND), done);
            if (isChanged && !done.equals("remove")) {
                assertTrue(opens(NEW), done);
            }
            changed += isChanged ? 1 : 0;
            partly +=
                    Files.exists(unfinished()) || !copies().read(null).faults().isEmpty() ? 1 : 0;
        }
        System.out.println(changed + " changes were in force; " + partly + " kills came while the copies were written");
        // The next command goes on from what the last one left.
        volume.run("key", "test", "--passphrase-file=" + file(opens(OLD) ? OLD : NEW));
        assertEquals(List.of(), copies().read(null).faults());
    }

    private Path file(String passphrase) throws IOException {
        return Files.writeString(folder.resolve("passphrase"), passphrase);
    }

    private Path unfinished() {
        return data.resolveSibling(KeyHeader.NAME + ".new");
    }

    private List<String> command(List<String> words) throws IOException {
        String program = Commands.projectFolder().resolve("scripts/sdfscli").toString();
        return Stream.concat(Stream.of(program, volume.name(), "key"), words.stream())
                .toList();
    }

    /** Kills a process at any moment, or, three times of four, in the milliseconds after it began to write. */
    private void kill(ProcessBuilder builder, Random random) throws Exception {
        builder.environment()
                .putAll(Map.of(
                        "SDFS_CONFIG_DIR", volume.configFolder().toString(),
                        "SDFS_PASSPHRASE", OLD,
                        "SDFS_NEW_PASSPHRASE", NEW));
        builder.redirectErrorStream(true)
                .redirectOutput(folder.resolve("output").toFile());
        boolean whileWriting = random.nextInt(4) > 0;
        // From 10 us to 300 ms, each order of magnitude as often: a force of a disk and one of memory differ as much.
        long nanos = whileWriting
                ? (long) (10_000 * Math.pow(10, 4.5 * random.nextDouble()))
                : TimeUnit.MILLISECONDS.toNanos(random.nextInt(LONGEST_COMMAND_MS));
        Process process = builder.start();
        try {
            while (whileWriting && process.isAlive() && !Files.exists(unfinished())) {
                LockSupport.parkNanos(POLL_NANOS);
            }
            for (long began = System.nanoTime(); process.isAlive() && System.nanoTime() - began < nanos; ) {
                Thread.onSpinWait();
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private boolean opens(String passphrase) throws IOException {
        try (KeyHeaderCopies.Unlocked unlocked = copies().read(null).open(secret(passphrase))) {
            return true;
        } catch (KeyException e) {
            assertEquals(KeyException.Reason.WRONG_SECRET, e.reason(), e.getMessage());
            return false;
        }
    }

    /** The control: a program that writes both copies in their places, at the same time, loses the header. */
    @Test
    void aWriterInPlaceLosesBothCopies() throws Exception {
        var random = new Random(TestSeed.next());
        int lost = 0;
        for (int round = 0; round < KILLS && lost == 0; round++) {
            assertEquals(List.of(), copies().write(before, null));
            kill(
                    new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin/java").toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            InPlace.class.getName(),
                            data.toString(),
                            metadata.toString()),
                    random);
            Files.deleteIfExists(unfinished());
            try {
                copies().read(null);
            } catch (KeyException e) {
                lost++;
            }
        }
        assertEquals(1, lost);
    }

    /** Writes what is in two files to both of them, in pieces, again and again. */
    static final class InPlace {
        private static final int PIECE_BYTES = 16;

        private InPlace() {}

        public static void main(String[] files) throws IOException {
            byte[] bytes = Files.readAllBytes(Path.of(files[0]));
            try (var one = new RandomAccessFile(files[0], "rw");
                    var two = new RandomAccessFile(files[1], "rw")) {
                Files.createFile(Path.of(files[0] + ".new"));
                while (true) {
                    one.setLength(0);
                    two.setLength(0);
                    for (int at = 0; at < bytes.length; at += PIECE_BYTES) {
                        int count = Math.min(PIECE_BYTES, bytes.length - at);
                        one.write(bytes, at, count);
                        two.write(bytes, at, count);
                    }
                }
            }
        }
    }
}
