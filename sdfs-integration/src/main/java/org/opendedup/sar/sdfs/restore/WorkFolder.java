package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.opendedup.sar.io.FileDirectory;

/**
 * What a restore needs beside its destination: a folder with the journal, and in it another one for what memory does not hold.
 * Both are their owner's alone. One that somebody else has made, or can write to, is refused: its journal might say that all is
 * written, and its scratch files might be links.
 */
final class WorkFolder {
    private static final FileAttribute<Set<PosixFilePermission>> OWNER_ALONE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    /** Not the set-group-id bit, which a folder may have of the one above. */
    private static final int TYPE_AND_PERMISSIONS = 0170777;

    private static final int FOLDER_OF_OWNER = 0040700;

    private final Path folder;
    private final Path scratch;
    private final Path journal;
    private final int user;

    /**
     * @param folder its path
     * @param user number of the user who must own it
     */
    WorkFolder(Path folder, int user) {
        this.folder = folder;
        this.user = user;
        scratch = folder.resolve("scratch");
        journal = folder.resolve("journal");
    }

    RestoreJournal journal() {
        return new RestoreJournal(journal);
    }

    /** Whether an earlier restore has left one; refuses one that is not to be trusted. */
    boolean exists() throws IOException {
        if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        checkOwnersAlone(folder);
        if (Files.exists(journal, LinkOption.NOFOLLOW_LINKS)
                && !Files.isRegularFile(journal, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException(journal + " is no file");
        }
        return true;
    }

    private void checkOwnersAlone(Path path) throws IOException {
        int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        int owner = (int) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        if ((mode & TYPE_AND_PERMISSIONS) != FOLDER_OF_OWNER || owner != user) {
            throw new IOException(path + " is not a folder that a restore of user " + user
                    + " has made: it must be that user's alone");
        }
    }

    void make() throws IOException {
        Files.createDirectory(folder, OWNER_ALONE);
    }

    /** An empty folder; what an earlier restore left there is of no use any more. */
    FileDirectory emptyScratch() throws IOException {
        if (Files.exists(scratch, LinkOption.NOFOLLOW_LINKS)) {
            checkOwnersAlone(scratch);
            deleteFilesIn(scratch);
        } else {
            Files.createDirectory(scratch, OWNER_ALONE);
        }
        return FileDirectory.open(scratch);
    }

    /** Deletes it with all its files, the journal last: until then the restore can be gone on with. */
    void delete() throws IOException {
        if (Files.isDirectory(scratch, LinkOption.NOFOLLOW_LINKS)) {
            deleteFilesIn(scratch);
            Files.delete(scratch);
        }
        deleteFilesIn(folder);
        Files.deleteIfExists(journal);
        Files.deleteIfExists(folder);
    }

    private void deleteFilesIn(Path parent) throws IOException {
        List<Path> files;
        try (Stream<Path> inside = Files.list(parent)) {
            files = inside.filter(file -> !file.equals(journal) && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                    .toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
    }

    @Override
    public String toString() {
        return folder.toString();
    }
}
