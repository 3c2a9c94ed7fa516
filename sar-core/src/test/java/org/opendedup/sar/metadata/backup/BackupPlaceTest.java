package org.opendedup.sar.metadata.backup;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.io.CrashDirectory;

/** Which folder is a volume's own, for its backups. */
class BackupPlaceTest {
    private static final UUID VOLUME = new UUID(1, 2);
    private static final UUID OTHER = new UUID(3, 4);
    private static final int NOBODY = 65534;

    @TempDir
    private Path folder;

    private static List<String> names(Path in) throws IOException {
        try (Stream<Path> inside = Files.list(in)) {
            return inside.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static Backup addTo(BackupPlace place, UUID volume) throws IOException {
        CrashDirectory database = new CrashDirectory(1);
        database.put("CURRENT", new byte[] {1, 2, 3});
        BackupOrigin origin = new BackupOrigin(new Epoch(volume, 1, 1), 1, 1, 0);
        return place.backups(null).add(database, origin, table -> {}, BackupFolder.Steps.UNBOUND);
    }

    private static String refusal(Path of, UUID volume) {
        String making = String.valueOf(assertThrows(IOException.class, () -> BackupPlace.make(of, volume))
                .getMessage());
        assertEquals(
                making,
                assertThrows(IOException.class, () -> BackupPlace.find(of, volume))
                        .getMessage(),
                "reading is refused as writing is");
        return making;
    }

    @Test
    void aFolderIsMadeWithItsMarkAndFoundAgain() throws IOException {
        Path named = folder.resolve("off-site/metadata");
        Path own = BackupPlace.in(named, VOLUME);
        assertTrue(BackupPlace.find(own, VOLUME).isEmpty());
        Backup made;
        try (BackupPlace place = BackupPlace.make(own, VOLUME)) {
            made = addTo(place, VOLUME);
        }
        // The golden bytes of the mark, and the name: they must never change.
        assertEquals(
                "sar-metadata-00000000-0000-0001-0000-000000000002",
                own.getFileName().toString());
        assertEquals(
                "SAR-METADATA-BACKUPS 2 00000000-0000-0001-0000-000000000002\n",
                Files.readString(own.resolve("SAR-METADATA-BACKUPS"), US_ASCII));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(own)));
        try (BackupPlace place = BackupPlace.find(own, VOLUME).orElseThrow()) {
            assertEquals(List.of(made), place.backups(null).list());
        }
        assertEquals(List.of(own.getFileName().toString()), BackupPlace.namesIn(named));
    }

    @Test
    void twoVolumesHaveTheirOwnFoldersInOne() throws IOException {
        for (UUID volume : List.of(VOLUME, OTHER)) {
            try (BackupPlace place = BackupPlace.make(BackupPlace.in(folder, volume), volume)) {
                assertEquals(1, addTo(place, volume).number());
            }
        }
        for (UUID volume : List.of(VOLUME, OTHER)) {
            try (BackupPlace place =
                    BackupPlace.find(BackupPlace.in(folder, volume), volume).orElseThrow()) {
                assertEquals(
                        volume,
                        place.backups(null).list().get(0).origin().epoch().volume());
            }
        }
        assertTrue(refusal(BackupPlace.in(folder, OTHER), VOLUME).contains("for the backups of volume " + OTHER));
    }

    @Test
    void aFolderWithFilesAndWithoutTheMarkIsRefused() throws IOException {
        Path own = BackupPlace.in(folder, VOLUME);
        Files.createDirectories(own.resolve("files"));
        Files.writeString(own.resolve("files/thesis.tex"), "the only copy");
        assertTrue(refusal(own, VOLUME).contains("was not made for the backups"));
        Files.writeString(own.resolve("SAR-METADATA-BACKUPS"), "SAR-METADATA-BACKUPS 1 " + VOLUME + "\n");
        assertThrows(UnsupportedFormatException.class, () -> BackupPlace.make(own, VOLUME));
        assertEquals("the only copy", Files.readString(own.resolve("files/thesis.tex")));
        Files.delete(own.resolve("files/thesis.tex"));
        Files.delete(own.resolve("files"));
        // Control: a power cut may leave an empty folder, or one with a part of the mark.
        Files.writeString(own.resolve("SAR-METADATA-BACKUPS"), "SAR-MET");
        BackupPlace.make(own, VOLUME).close();
        BackupPlace.find(own, VOLUME).orElseThrow().close();
    }

    @Test
    void aLinkIsRefused() throws IOException {
        Path victim = Files.createDirectory(folder.resolve("victim"));
        Path own = BackupPlace.in(folder, VOLUME);
        Files.createSymbolicLink(own, victim);
        assertTrue(refusal(own, VOLUME).contains("is a link"));
        assertEquals(List.of(), names(victim));
    }

    @Test
    void aFolderThatOthersCanWriteToIsRefused() throws IOException {
        Path own = BackupPlace.in(folder, VOLUME);
        BackupPlace.make(own, VOLUME).close();
        Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rwxrwx---"));
        assertTrue(refusal(own, VOLUME).contains("can be written to by others"));
        Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rwxr-x---"));
        BackupPlace.make(own, VOLUME).close();
    }

    @Test
    void aFolderOfAnotherUserIsRefused() throws IOException {
        Path own = BackupPlace.in(folder, VOLUME);
        BackupPlace.make(own, VOLUME).close();
        assumeTrue(mayChangeOwners(own), "only root can give a folder away");
        assertTrue(refusal(own, VOLUME).contains("belongs to user " + NOBODY));
        assertEquals(List.of("SAR-METADATA-BACKUPS"), names(own));
    }

    private static boolean mayChangeOwners(Path of) {
        try {
            Files.setAttribute(of, "unix:uid", NOBODY);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** The folder above belongs to somebody who puts a link to another folder in the place of the open one. */
    @Test
    void anOpenFolderIsTheSameWhateverIsPutInItsPlace() throws IOException {
        Path victim = Files.createDirectory(folder.resolve("victim"));
        byte[] theirs = {7};
        Files.write(victim.resolve("file-000001-CURRENT"), theirs);
        Path own = BackupPlace.in(folder, VOLUME);
        try (BackupPlace place = BackupPlace.make(own, VOLUME)) {
            Files.move(own, folder.resolve("moved"));
            Files.createSymbolicLink(own, victim);
            addTo(place, VOLUME);
            place.backups(null).keep(1);
        }
        assertEquals(List.of("file-000001-CURRENT"), names(victim));
        assertArrayEquals(theirs, Files.readAllBytes(victim.resolve("file-000001-CURRENT")));
        assertEquals(3, names(folder.resolve("moved")).size());
    }
}
