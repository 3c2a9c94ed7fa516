package org.opendedup.sar.volume.backup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** Databases with damaged blocks are salvaged record by record; what is not named as lost is right to the byte. */
class MetadataSalvageTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final int ROUNDS = TestSeed.rounds(3);
    private static final int FOLDERS = 20;
    private static final int FILES = 1500;

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);

    @MemoryFolder
    private Path folder;

    private Path saved;
    private BackupTrial trial;

    /** A file that the volume should have. */
    private record Expected(long inode, byte[] bytes) {}

    /** Files by path without the first slash. */
    private final Map<String, Expected> expected = new TreeMap<>();

    @BeforeEach
    void makeVolume() throws IOException {
        Path place = Files.createDirectory(folder.resolve("volume"));
        trial = new BackupTrial(place, seed);
        try (Volume volume = trial.open()) {
            volume.maintenance().backups().backUp(4);
            List<Long> folders = new ArrayList<>();
            for (int i = 0; i < FOLDERS; i++) {
                folders.add(volume.makeDirectory(Inode.ROOT, bytes("d" + i), 0755, OWNER)
                        .inode());
            }
            for (int i = 0; i < FILES; i++) {
                int in = random.nextInt(FOLDERS);
                write(volume, folders.get(in), "d" + in + "/file-" + i, trial.random(random.nextInt(9000)));
            }
            for (int i = 0; i < 4; i++) {
                write(volume, folders.get(i), "d" + i + "/large-" + i, trial.random(3_000_000));
            }
            volume.sync();
        }
        trial.open().close(); // writes the log to tables
        saved = folder.resolve("saved");
        copy(place, saved);
    }

    private static byte[] bytes(String name) {
        return name.getBytes(UTF_8);
    }

    private void write(Volume volume, long parent, String path, byte[] bytes) throws IOException {
        String name = path.substring(path.indexOf('/') + 1);
        long inode = volume.makeNode(parent, bytes(name), 0100644, 0, OWNER).inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(bytes));
        volume.close(file);
        volume.forget(inode, 1);
        expected.put(path, new Expected(inode, bytes));
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : all.toList()) {
                Files.copy(path, to.resolve(from.relativize(path).toString()));
            }
        }
    }

    private void putBack() throws IOException {
        PrivateFiles.deleteFolder(folder.resolve("volume"));
        copy(saved, folder.resolve("volume"));
    }

    private MetadataReport salvage() throws IOException {
        return MetadataSalvager.salvage(
                trial.config.locations(),
                trial.config.keys(),
                List.of(MetadataBackups.folderIn(trial.config.locations().data())),
                (step, done, of) -> {});
    }

    /** Damages blocks of the database's tables. */
    private void damageBlocks(int blocks) throws IOException {
        for (int i = 0; i < blocks; i++) {
            List<Path> tables = trial.databaseFiles(".sst");
            Path table = tables.get(random.nextInt(tables.size()));
            byte[] content = Files.readAllBytes(table);
            content[random.nextInt(content.length)] ^= (byte) (1 << random.nextInt(8));
            Files.write(table, content);
        }
    }

    @Test
    void whatIsNotNamedAsLostReadsRight() throws IOException {
        int salvaged = 0;
        int lossy = 0;
        int refusedMounts = 0;
        List<String> refused = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            putBack();
            damageBlocks(1 + random.nextInt(4));
            refusedMounts += isRefused() ? 1 : 0;
            MetadataReport report;
            try {
                report = salvage();
            } catch (CorruptionException e) {
                refused.add(e.getMessage());
                continue;
            }
            salvaged++;
            lossy += report.lost().isEmpty() ? 0 : 1;
            check(report, "round " + round);
        }
        System.out.printf(
                "%d rounds: %d salvaged, %d with losses, %d refused by a mount or a check%n",
                ROUNDS, salvaged, lossy, refusedMounts);
        assertEquals(List.of(), refused);
        assertTrue(lossy > 0, "no round lost anything: it tested nothing");
        // The control: without a salvage, the damage is met.
        assertTrue(refusedMounts > 0, "no damage was met");
    }

    /** Returns whether the database is found damaged without a salvage. */
    private boolean isRefused() throws IOException {
        try {
            StoredVolume.Report report =
                    new OfflineCheck(trial.config, (step, done, of) -> {}, InstantSource.system()).check();
            return report.hasDefects();
        } catch (IOException e) {
            return true;
        }
    }

    private void check(MetadataReport report, String round) throws IOException {
        StoredVolume.Report checked =
                new OfflineCheck(trial.config, (step, done, of) -> {}, InstantSource.system()).check();
        List<Finding> contradictions = checked.findings().stream()
                .filter(finding -> finding.severity() == Finding.Severity.DEFECT)
                .toList();
        assertEquals(List.of(), contradictions, () -> round + ": " + report.lost());
        assertEquals(
                !report.damagedFiles().isEmpty(),
                checked.findings().stream().anyMatch(finding -> finding.severity() == Finding.Severity.LOSS),
                () -> round + ": " + checked.findings());
        try (Volume volume = trial.open()) {
            List<String> problems = VolumeChecker.check(volume);
            assertTrue(
                    problems.isEmpty() || !report.damagedFiles().isEmpty(),
                    () -> round + ": " + problems + report.lost());
            for (Map.Entry<String, Expected> file : expected.entrySet()) {
                checkFile(volume, file.getKey(), file.getValue(), report, round);
            }
        }
    }

    private void checkFile(Volume volume, String path, Expected file, MetadataReport report, String round)
            throws IOException {
        String told = report.lost().stream().collect(Collectors.joining("\n"));
        String name = path.substring(path.indexOf('/') + 1);
        long inode;
        try {
            long parent = find(volume, Inode.ROOT, path.substring(0, path.indexOf('/')));
            inode = find(volume, parent, name);
        } catch (PosixException e) {
            assertTrue(told.contains("names in folders") || told.contains("the folder"), round + ": " + path + told);
            if (told.contains("inodes from")) {
                return;
            }
            assertTrue(
                    told.contains("inode " + file.inode() + ",") || told.contains("/lost+found/#"),
                    () -> round + ": " + path + " is gone\n" + told);
            try {
                inode = find(volume, find(volume, Inode.ROOT, "lost+found"), "#" + file.inode());
            } catch (PosixException stillGone) {
                // Its folder is in lost+found, and has it.
                return;
            }
        }
        assertEquals(file.inode(), inode, path);
        byte[] found;
        try {
            found = read(volume, inode);
        } catch (IOException e) {
            assertTrue(
                    report.damagedFiles().stream().anyMatch(damaged -> damaged.inode() == file.inode()),
                    () -> round + ": " + path + " cannot be read and is not named\n" + told);
            return;
        }
        boolean isRemade = told.contains("(inode " + file.inode() + ")");
        byte[] wanted = isRemade ? Arrays.copyOf(file.bytes(), found.length) : file.bytes();
        assertTrue(Arrays.equals(wanted, found), () -> round + ": " + path + " has other bytes\n" + told);
    }

    private static long find(Volume volume, long parent, String name) throws IOException {
        long inode = volume.lookup(parent, bytes(name)).inode();
        volume.forget(inode, 1);
        return inode;
    }

    private static byte[] read(Volume volume, long inode) throws IOException {
        OpenFile file = volume.open(inode, false);
        try {
            ByteBuffer found =
                    ByteBuffer.allocate((int) volume.attributes(inode).size());
            while (found.hasRemaining() && volume.read(file, found.position(), found) > 0) {}
            return found.array();
        } finally {
            volume.close(file);
        }
    }

    @Test
    void anIntactDatabaseLosesNothing() throws IOException {
        MetadataReport report = salvage();
        assertEquals(List.of(), report.lost());
        assertEquals(List.of(), report.damagedFiles());
        check(report, "intact");
        assertTrue(Files.exists(report.oldDatabase().resolve("CURRENT")));
    }

    /** Only the index knows the fingerprints of what is lost, by which it heals when it is written again. */
    @Test
    void theIndexKeepsWhatItKnowsOfAPackThatIsLost() throws Exception {
        List<Path> before = packs();
        try (Volume volume = trial.open()) {
            write(volume, Inode.ROOT, "/later", trial.random(3_000_000));
            volume.sync();
        }
        assertTrue(packs().size() > before.size(), "each opening begins a pack");
        for (Path pack : before) {
            Files.delete(pack);
        }
        salvage();
        try (Volume volume = trial.open()) {
            TestWait.until(() -> !volume.condition().index().updating());
            assertTrue(volume.condition().index().complete(), "it was made anew, without the lost containers");
        }
    }

    private List<Path> packs() throws IOException {
        try (Stream<Path> all = Files.walk(trial.config.locations().data())) {
            return all.filter(path -> path.toString().endsWith(".pack")).toList();
        }
    }

    @Test
    void aDamagedManifestIsRefusedAndNothingChanges() throws IOException {
        Path manifest = trial.databaseFiles("MANIFEST").get(0);
        byte[] content = Files.readAllBytes(manifest);
        content[20] ^= 1;
        Files.write(manifest, content);
        List<Path> before = trial.databaseFiles("");
        IOException refused = assertThrows(IOException.class, this::salvage);
        assertTrue(refused.getMessage().contains("restore the newest backup"), refused.getMessage());
        assertEquals(before, trial.databaseFiles(""));
    }
}
