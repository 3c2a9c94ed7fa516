package org.opendedup.sar.metadata.backup;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.KeyedHash;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Output;

/** What a folder with backups has after any failure, whatever the bytes of the database are. */
class BackupFolderTest {
    private static final UUID VOLUME = UUID.randomUUID();
    private static final BackupFolder.TableCheck SOUND = table -> {};

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);
    private final CrashDirectory database = database();
    private final CrashDirectory stored = new CrashDirectory(seed);
    private final BackupFolder folder = new BackupFolder(stored, null);

    private static BackupOrigin origin(long changes) {
        return new BackupOrigin(new Epoch(VOLUME, 7, -5), 1_700_000_000_000_000_001L, changes, 3);
    }

    private byte[] bytes(int count) {
        byte[] made = new byte[count];
        random.nextBytes(made);
        return made;
    }

    /** A database with three tables and what RocksDB has beside them. */
    private CrashDirectory database() {
        CrashDirectory made = new CrashDirectory(seed);
        made.put("000010.sst", bytes(300_000));
        made.put("000012.sst", bytes(20_000));
        made.put("000013.sst", bytes(100));
        made.put("CURRENT", bytes(16));
        made.put("MANIFEST-000011", bytes(5000));
        made.put("000014.log", bytes(0));
        return made;
    }

    /** The same database later: one table less, one more, and other small files. */
    private CrashDirectory later(CrashDirectory before) throws IOException {
        CrashDirectory made = new CrashDirectory(seed);
        made.put("000010.sst", before.contents("000010.sst"));
        made.put("000015.sst", bytes(50_000));
        made.put("CURRENT", bytes(16));
        made.put("MANIFEST-000016", bytes(6000));
        return made;
    }

    private static void assertHas(BackupFolder folder, Backup backup, CrashDirectory database) throws IOException {
        CrashDirectory copy = new CrashDirectory(1);
        folder.copyTo(backup, copy, BackupFolder.Steps.UNBOUND);
        assertEquals(database.list(), copy.list());
        for (String name : database.list()) {
            assertArrayEquals(database.contents(name), copy.contents(name), name);
        }
    }

    @Test
    void aLaterBackupCopiesOnlyNewTables() throws IOException {
        CrashDirectory later = later(database);
        Backup first = folder.add(database, origin(5), SOUND, BackupFolder.Steps.UNBOUND);
        long[] copied = new long[1];
        List<String> checked = new ArrayList<>();
        Backup second = folder.add(later, origin(6), checked::add, bytes -> copied[0] += bytes);
        assertEquals(50_000 + 16 + 6000, copied[0]);
        assertEquals(List.of("000015.sst"), checked);
        assertHas(folder, first, database);
        assertHas(folder, second, later);
    }

    /** A restored database counts its tables from an earlier number on: numbers and lengths may come again. */
    @Test
    void aTableOfAnotherHistoryIsNotTakenForOneOfTheSameNumberAndLength() throws IOException {
        Backup first = folder.add(database, origin(5), SOUND, BackupFolder.Steps.UNBOUND);
        CrashDirectory other = database();
        Backup second = folder.add(other, origin(6), SOUND, BackupFolder.Steps.UNBOUND);
        assertHas(folder, first, database);
        assertHas(folder, second, other);
    }

    @Test
    void keepsTheNewestAndNoFileOfTheOthers() throws IOException {
        for (int i = 0; i < 5; i++) {
            folder.add(database, origin(i), SOUND, BackupFolder.Steps.UNBOUND);
        }
        CrashDirectory later = later(database);
        folder.add(later, origin(9), SOUND, BackupFolder.Steps.UNBOUND);
        folder.keep(2);
        List<Backup> left = folder.list();
        assertEquals(List.of(5L, 6L), left.stream().map(Backup::number).toList());
        assertHas(folder, left.get(0), database);
        assertHas(folder, left.get(1), later);
        folder.keep(1);
        assertEquals(1 + later.list().size(), stored.list().size(), () -> "left is " + stored.list());
        assertEquals(
                7,
                folder.add(later, origin(10), SOUND, BackupFolder.Steps.UNBOUND).number());
    }

    @Test
    void aFlippedBitInAnyFileIsFound() throws IOException {
        Backup backup = new BackupFolder(stored, null).add(database, origin(5), SOUND, BackupFolder.Steps.UNBOUND);
        for (String name : stored.list()) {
            byte[] right = stored.contents(name);
            if (right.length == 0) {
                continue;
            }
            byte[] wrong = right.clone();
            wrong[random.nextInt(wrong.length)] ^= (byte) (1 << random.nextInt(8));
            stored.delete(name);
            stored.put(name, wrong);
            BackupFolder reopened = new BackupFolder(stored, null);
            if (name.endsWith(".backup")) {
                assertEquals(List.of(), reopened.list());
                assertEquals(1, reopened.findings().size());
                assertTrue(reopened.findings().get(0).contains(name));
            } else {
                assertThrows(
                        CorruptionException.class,
                        () -> reopened.verify(backup, BackupFolder.Steps.UNBOUND),
                        () -> name + ", seed " + seed);
            }
            stored.delete(name);
            stored.put(name, right);
        }
        new BackupFolder(stored, null).verify(backup, BackupFolder.Steps.UNBOUND);
    }

    private static void flip(CrashDirectory stored, String name) throws IOException {
        byte[] bytes = stored.contents(name);
        bytes[bytes.length / 3] ^= 1;
        stored.delete(name);
        stored.put(name, bytes);
    }

    private static String largest(Backup backup) {
        return backup.files().stream()
                .max(Comparator.comparingLong(BackupFile::bytes))
                .orElseThrow()
                .stored();
    }

    @Test
    void aSharedTableThatIsDamagedIsCopiedAgainWhenItIsReadBack() throws IOException {
        Backup first = folder.add(database, origin(5), SOUND, BackupFolder.Steps.UNBOUND);
        flip(stored, largest(first));
        Backup second = folder.add(database, origin(6), SOUND, BackupFolder.Steps.UNBOUND);
        // The control: without reading it back, the second one is of as little use as the first.
        assertThrows(CorruptionException.class, () -> folder.verify(second, BackupFolder.Steps.UNBOUND));
        long[] read = new long[1];
        assertEquals(List.of("000010.sst"), folder.readBack(second, database, SOUND, bytes -> read[0] += bytes));
        assertEquals(second.bytes() + 300_000, read[0], "each step can wait");
        assertHas(folder, first, database);
        assertHas(folder, second, database);
        assertEquals(List.of(), folder.findings());
    }

    @Test
    void aTableThatTheDatabaseHasOtherwiseIsNotTakenForWhole() throws IOException {
        Backup first = folder.add(database, origin(5), SOUND, BackupFolder.Steps.UNBOUND);
        flip(stored, largest(first));
        flip(database, "000010.sst");
        assertThrows(
                CorruptionException.class, () -> folder.readBack(first, database, SOUND, BackupFolder.Steps.UNBOUND));
        assertEquals(List.of("backup 1 lacks 1 of its 6 files"), folder.findings());
        assertFalse(folder.isWhole(first));
        assertThrows(
                CorruptionException.class,
                () -> folder.add(database, origin(6), SOUND, BackupFolder.Steps.UNBOUND),
                "the same table with other bytes");
        flip(database, "000010.sst");
        assertHas(folder, folder.add(database, origin(6), SOUND, BackupFolder.Steps.UNBOUND), database);
        assertHas(folder, first, database);
    }

    @Test
    void damageThatIsNotedLastsUntilTheNextBackupMendsIt() throws IOException {
        Backup first = folder.add(database, origin(5), SOUND, BackupFolder.Steps.UNBOUND);
        BackupFile file = first.files().get(0);
        assertNull(folder.findAndNote(file, BackupFolder.Steps.UNBOUND));
        flip(stored, file.stored());
        assertNotNull(folder.findAndNote(file, BackupFolder.Steps.UNBOUND));
        assertEquals(List.of("backup 1 lacks 1 of its 6 files"), new BackupFolder(stored, null).findings());
        assertHas(folder, folder.add(database, origin(6), SOUND, BackupFolder.Steps.UNBOUND), database);
        assertEquals(List.of(), folder.findings());
        folder.keep(2);
        assertTrue(stored.list().stream().noneMatch(name -> name.endsWith(".damaged")), stored.list()::toString);
    }

    /** A folder in which a file cannot be read. */
    private static Directory unreadable(CrashDirectory stored, String wanted) {
        return (Directory) Proxy.newProxyInstance(
                Directory.class.getClassLoader(), new Class<?>[] {Directory.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("open") && arguments[0].equals(wanted)) {
                        throw new IOException(wanted + ": Input/output error");
                    }
                    try {
                        return method.invoke(stored, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aListThatCannotBeUsedIsToldAndGoesInItsTurn(boolean isDamaged) throws IOException {
        Backup first = new BackupFolder(stored, null).add(database, origin(1), SOUND, BackupFolder.Steps.UNBOUND);
        new BackupFolder(stored, null).add(database, origin(2), SOUND, BackupFolder.Steps.UNBOUND);
        if (isDamaged) {
            flip(stored, "000002.backup");
        }
        BackupFolder found = new BackupFolder(isDamaged ? stored : unreadable(stored, "000002.backup"), null);
        assertEquals(List.of(first), found.list());
        assertTrue(found.findings().get(0).contains("000002.backup"), found.findings()::toString);
        CrashDirectory later = later(database);
        for (int i = 3; i <= 5; i++) {
            found.add(later, origin(i), SOUND, BackupFolder.Steps.UNBOUND);
            found.keep(3);
            boolean isKept = i < 5;
            assertEquals(isKept, stored.exists("000002.backup"), "after backup " + i);
            assertEquals(isKept, stored.exists("file-000002-CURRENT"), "after backup " + i);
            assertEquals(
                    isKept,
                    stored.list().stream().anyMatch(name -> name.startsWith("table-000012")),
                    "a table that it may have, after backup " + i);
            assertEquals(i < 5, stored.exists("file-000001-CURRENT"), "after backup " + i);
        }
        assertEquals(List.of(), found.findings());
        assertEquals(3, found.list().size());
    }

    @Test
    void filesWithOtherNamesAreNotTouched() throws IOException {
        List<String> foreign = List.of(
                "tables/customers.csv",
                "files/projects/thesis.tex",
                "table-000010.sst",
                "file-1-CURRENT",
                "file-000001-CURRENT/deep",
                "notes.new",
                "notes.damaged",
                "old.backup",
                "0001.backup.new");
        foreign.forEach(name -> stored.put(name, bytes(10)));
        folder.add(database, origin(1), SOUND, BackupFolder.Steps.UNBOUND);
        folder.add(database, origin(2), SOUND, BackupFolder.Steps.UNBOUND);
        folder.keep(1);
        assertEquals(
                List.of(),
                foreign.stream().filter(name -> !stored.list().contains(name)).toList());
    }

    /** A folder in which the power is cut at a change, before it or when it is made and not yet durable. */
    private static final class CutFolder {
        private static final Set<String> CHANGES =
                Set.of("create", "append", "force", "rename", "delete", "sync", "trim");

        private final int at;
        private final boolean inTheMiddle;
        final List<String> changes = new ArrayList<>();

        /** @param at number of the change, from 0 */
        CutFolder(int at, boolean inTheMiddle) {
            this.at = at;
            this.inTheMiddle = inTheMiddle;
        }

        boolean isCut() {
            return changes.size() > at;
        }

        <T> T over(Class<T> type, T target) {
            return type.cast(Proxy.newProxyInstance(
                    type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                        String what = method.getName();
                        boolean changes = CHANGES.contains(what);
                        if (isCut() && !what.equals("close")) {
                            throw new IOException("the power is off");
                        }
                        if (changes) {
                            this.changes.add(what);
                        }
                        boolean isForce = what.equals("force") || what.equals("sync");
                        if (changes && isCut() && (isForce || !inTheMiddle)) {
                            throw new IOException("the power is cut");
                        }
                        method.setAccessible(true);
                        try {
                            Object result = method.invoke(target, arguments);
                            if (changes && isCut()) {
                                throw new IOException("the power is cut");
                            }
                            return result instanceof Output output ? over(Output.class, output) : result;
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    }));
        }
    }

    /** Makes a second backup and removes the first, with a power cut; returns what is wrong with what is left. */
    private String brokenByCut(CutFolder cut, int crash, boolean forceDoesNothing) throws IOException {
        CrashDirectory disk = new CrashDirectory(seed, forceDoesNothing);
        new BackupFolder(disk, null).add(database, origin(1), SOUND, BackupFolder.Steps.UNBOUND);
        CrashDirectory later = later(database);
        try {
            BackupFolder cutFolder = new BackupFolder(cut.over(Directory.class, disk), null);
            cutFolder.add(later, origin(2), SOUND, BackupFolder.Steps.UNBOUND);
            cutFolder.keep(1);
        } catch (IOException e) {
            assertTrue(cut.isCut(), e::toString);
        }
        CrashDirectory after = disk.crash(seed ^ crash);
        BackupFolder found = new BackupFolder(after, null);
        try {
            List<Backup> left = found.list();
            assertFalse(left.isEmpty(), "no backup is left");
            assertEquals(List.of(), found.findings());
            for (Backup backup : left) {
                found.verify(backup, BackupFolder.Steps.UNBOUND);
            }
            assertHas(found, found.add(later, origin(3), SOUND, BackupFolder.Steps.UNBOUND), later);
            found.keep(1);
            assertEquals(1 + later.list().size(), after.list().size(), () -> "left is " + after.list());
            return "";
        } catch (IOException | AssertionError e) {
            return "power cut at " + cut.changes + ", seed " + seed + ", crash " + crash + ": " + e;
        }
    }

    /** Returns what is wrong after power cuts before and in the middle of each change. */
    private List<String> brokenByCuts(boolean forceDoesNothing) throws IOException {
        CutFolder uncut = new CutFolder(Integer.MAX_VALUE, false);
        brokenByCut(uncut, 0, forceDoesNothing);
        assertTrue(uncut.changes.size() > 15, () -> "the changes are " + uncut.changes);
        List<String> broken = new ArrayList<>();
        for (int at = 0; at <= uncut.changes.size(); at++) {
            for (int crash = 0; crash < 6; crash++) {
                broken.add(brokenByCut(new CutFolder(at, crash % 2 == 0), crash, forceDoesNothing));
            }
        }
        broken.removeIf(String::isEmpty);
        return broken;
    }

    @Test
    void aPowerCutAtAnyChangeLeavesOnlyWholeBackups() throws IOException {
        assertEquals(List.of(), brokenByCuts(false));
    }

    @Test
    void controlADiskThatForgetsWhatWasForcedLeavesBrokenOnes() throws IOException {
        assertFalse(brokenByCuts(true).isEmpty(), () -> "seed " + seed);
    }

    @Test
    void aFullOrFailingDiskLeavesTheEarlierBackup() throws IOException {
        for (int n = 1; n < 12; n++) {
            CrashDirectory later = later(database);
            CrashDirectory disk = new CrashDirectory(seed);
            BackupFolder failing = new BackupFolder(disk, null);
            Backup first = failing.add(database, origin(1), SOUND, BackupFolder.Steps.UNBOUND);
            if (n % 3 == 0) {
                disk.failForce(1 + n / 3);
            } else if (n % 3 == 1) {
                disk.failAppend(1 + n / 3);
            } else {
                disk.noSpaceAfter(4000L * n);
            }
            IOException failure = assertThrows(
                    IOException.class, () -> failing.add(later, origin(2), SOUND, BackupFolder.Steps.UNBOUND));
            assertEquals(n % 3 == 2, failure instanceof NoSpaceException, failure::toString);
            assertEquals(List.of(first), failing.list());
            assertHas(failing, first, database);
            if (n % 3 == 2) {
                disk.noSpaceAfter(Long.MAX_VALUE / 2);
            }
            assertHas(failing, failing.add(later, origin(2), SOUND, BackupFolder.Steps.UNBOUND), later);
        }
    }

    /** The disk may be able to read it again. */
    @Test
    void aBackupThatFailsTakesNoTableAwayThatAListWhichCannotBeReadMayHave() throws IOException {
        Backup first = folder.add(database, origin(1), SOUND, BackupFolder.Steps.UNBOUND);
        byte[] list = stored.contents("000001.backup");
        stored.put("000001.backup", new byte[list.length]);
        assertEquals(List.of(), folder.list(), "control: it cannot be read");
        long[] copied = new long[1];
        assertThrows(
                IOException.class,
                () -> folder.add(later(database), origin(2), SOUND, bytes -> {
                    copied[0] += bytes;
                    if (copied[0] > 300_000) {
                        throw new NoSpaceException("the disk is full");
                    }
                }));
        stored.put("000001.backup", list);
        assertHas(folder, first, database);
    }

    /** A list is removed, because a newer backup was made, between the listing of the folder and the reading. */
    @Test
    void aListThatIsRemovedMeanwhileIsLeftOut() throws IOException {
        Backup first = folder.add(database, origin(1), SOUND, BackupFolder.Steps.UNBOUND);
        Directory racing = (Directory) Proxy.newProxyInstance(
                Directory.class.getClassLoader(), new Class<?>[] {Directory.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("list")) {
                        List<String> names = new ArrayList<>(stored.list());
                        names.add("000099.backup");
                        return names;
                    }
                    if (method.getName().equals("open") && arguments[0].equals("000099.backup")) {
                        throw new NoSuchFileException("000099.backup");
                    }
                    return method.invoke(stored, arguments);
                });
        BackupFolder found = new BackupFolder(racing, null);
        assertEquals(List.of(first), found.list());
        assertEquals(List.of(), found.findings());
    }

    @Test
    void aDamagedTableIsNotBackedUp() throws IOException {
        assertThrows(
                CorruptionException.class,
                () -> folder.add(
                        database,
                        origin(1),
                        table -> {
                            throw new CorruptionException(table, 0, "a table", "another");
                        },
                        BackupFolder.Steps.UNBOUND));
        assertEquals(List.of(), folder.list());
    }

    /** Of an encrypted volume: whoever can write there cannot make a backup, or change which files one has. */
    @Test
    void aListThatWasChangedIsNoBackup() throws IOException {
        BackupFolder sealed = new BackupFolder(stored, TestKeys.of(1));
        Backup backup = sealed.add(database, origin(5), SOUND, BackupFolder.Steps.UNBOUND);
        assertEquals(List.of(backup), sealed.list());
        assertEquals(List.of(), new BackupFolder(stored, TestKeys.of(2)).list());
        Backup changed = new Backup(backup.number(), origin(6), backup.files());
        for (KeyedHash by : new KeyedHash[] {null, TestKeys.of(2).keyedHash(Purpose.LISTS)}) {
            String name = BackupNames.list(backup.number());
            stored.delete(name);
            try (Output list = stored.create(name)) {
                list.append(ByteBuffer.wrap(BackupFormat.encode(changed, by)));
            }
            assertEquals(List.of(), sealed.list());
            assertEquals(
                    List.of("the list " + name + " was changed or exchanged, so that backup is of no use"),
                    sealed.findings());
            assertEquals(List.of(changed), new BackupFolder(stored, null).list(), "the control");
        }
    }

    /** The golden bytes of a list: they must never change. */
    @Test
    void theListOfABackupStaysReadable() throws IOException {
        String text = """
                SAR-METADATA-BACKUP 2
                number 4
                epoch 00000000-0000-0001-0000-000000000002 7 fffffffffffffffb
                created 1700000000000000001
                changes 12345
                collections 3
                file 000010.sst 300000 89abcdef table-000010-300000-00112233445566778899aabbccddeeff.sst
                file CURRENT 16 00000001 file-000004-CURRENT
                crc d0e9d996
                """;
        Backup backup = BackupFormat.decode(text.getBytes(US_ASCII), "golden");
        assertEquals(text, new String(BackupFormat.encode(backup, null), US_ASCII));
        String hmac = "hmac 96654564dd61741a170fc18ccf9dc2c4ad07f83d6f7f5442eaba8e0fb1bb1cff\n";
        String sealed = new String(BackupFormat.encode(backup, TestKeys.of(1).keyedHash(Purpose.LISTS)), US_ASCII);
        assertEquals(text.substring(0, text.indexOf("crc")) + hmac, sealed.substring(0, sealed.indexOf("crc")));
        assertEquals(4, backup.number());
        assertEquals(
                new BackupOrigin(new Epoch(new UUID(1, 2), 7, -5), 1_700_000_000_000_000_001L, 12345, 3),
                backup.origin());
        assertEquals(0x89abcdef, backup.files().get(0).crc());
        assertThrows(
                UnsupportedFormatException.class,
                () -> BackupFormat.decode(text.replace("BACKUP 2", "BACKUP 1").getBytes(US_ASCII), "golden"));
    }
}
