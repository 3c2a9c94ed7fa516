package org.opendedup.sar.sdfs.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.opendedup.sar.cluster.ArchiveEntry;
import org.opendedup.sar.cluster.ArchiveEntry.Kind;
import org.opendedup.sar.cluster.ArchiveReader;
import org.opendedup.sar.cluster.UnreadableBlockException;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sdfs.cli.report.FailureText;

/**
 * Makes the files of an archive. A file that needs a block which cannot be read is not made, and told; the others are.
 * Links are made, and folders get their modes and times, after all files, so no file is written through a link. Until
 * then nobody but the process's user can read what is made.
 */
public final class TreeRestorer {
    /** Without setuid, setgid and the sticky bit. */
    private static final int PERMISSIONS = 0777;

    private final ArchiveReader archive;
    private final Progress progress;
    private final List<String> notMade = new ArrayList<>();
    private final List<String> notKept = new ArrayList<>();
    private long entries;
    private long files;
    private long bytes;

    public TreeRestorer(ArchiveReader archive, Progress progress) {
        this.archive = archive;
        this.progress = progress;
    }

    /** Returns the number of files that were made. */
    public long files() {
        return files;
    }

    /** Returns the length of the files that were made, in bytes. */
    public long bytes() {
        return bytes;
    }

    /** Returns which files were not made, with the reasons. */
    public List<String> notMade() {
        return List.copyOf(notMade);
    }

    /** Returns what was made without its owner, with the reasons. */
    public List<String> notKept() {
        return List.copyOf(notKept);
    }

    /**
     * Makes an entry and all below it.
     *
     * @param from path of the entry in the archive; empty for all
     * @param target its new path: nothing is there, or an empty folder
     * @throws NoSuchFileException if the archive has no such entry
     */
    public void restore(String from, Path target) throws IOException {
        requireFree(target);
        List<ArchiveEntry> later = new ArrayList<>();
        Set<String> links = new HashSet<>();
        archive.forEach(entry -> {
            if (!entry.isBelow(from)) {
                return;
            }
            progress.at("files", files, archive.files());
            entries++;
            if (entry.kind() == Kind.FILE) {
                makeFile(entry, pathOf(entry, from, target));
                return;
            } else if (entry.kind() == Kind.FOLDER) {
                PrivateFiles.createFolders(pathOf(entry, from, target));
            } else {
                requireNoLinkAbove(entry.path(), links);
                links.add(entry.path());
            }
            later.add(entry);
        });
        if (entries == 0) {
            throw noSuchEntry(from);
        }
        for (ArchiveEntry entry : later) {
            if (entry.kind() == Kind.LINK) {
                Files.createSymbolicLink(pathOf(entry, from, target), Path.of(entry.target()));
            }
        }
        // What is inside a folder comes behind it in the list, and changes its time.
        for (int i = later.size() - 1; i >= 0; i--) {
            giveAttributes(later.get(i), pathOf(later.get(i), from, target));
        }
    }

    /** Writes the bytes of a file to a stream. */
    public void copy(String from, OutputStream target) throws IOException {
        List<ArchiveEntry> chosen = new ArrayList<>();
        archive.forEach(entry -> {
            if (entry.path().equals(from) && entry.kind() == Kind.FILE) {
                chosen.add(entry);
            }
        });
        if (chosen.isEmpty()) {
            throw noSuchEntry(from);
        }
        archive.copy(chosen.get(0), target);
        files++;
        bytes += chosen.get(0).bytes();
    }

    private static NoSuchFileException noSuchEntry(String from) {
        return new NoSuchFileException(from.isEmpty() ? "a single file" : from, null, "the archive has none");
    }

    private static void requireFree(Path target) throws IOException {
        if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileAlreadyExistsException(target.toString());
        }
        try (Stream<Path> inside = Files.list(target)) {
            if (inside.findAny().isPresent()) {
                throw new FileAlreadyExistsException(target.toString(), null, "the folder is not empty");
            }
        }
    }

    /** @throws CorruptionException if the entry would be made where a link leads, which may be outside of the target */
    private static void requireNoLinkAbove(String path, Set<String> links) throws CorruptionException {
        for (String above = path; !above.isEmpty(); ) {
            above = above.substring(0, Math.max(0, above.lastIndexOf('/')));
            if (links.contains(above)) {
                throw new CorruptionException("the list of an archive", -1, "a folder above " + path, "a link");
            }
        }
    }

    private static Path pathOf(ArchiveEntry entry, String from, Path target) {
        String below = entry.path().substring(from.length());
        return below.isEmpty() ? target : target.resolve(below.startsWith("/") ? below.substring(1) : below);
    }

    private void makeFile(ArchiveEntry entry, Path path) throws IOException {
        try (OutputStream out = PrivateFiles.createNew(path)) {
            archive.copy(entry, out);
        } catch (UnreadableBlockException e) {
            Files.delete(path);
            notMade.add(entry.path() + ": " + FailureText.of(e));
            return;
        }
        giveAttributes(entry, path);
        files++;
        bytes += entry.bytes();
    }

    private void giveAttributes(ArchiveEntry entry, Path path) throws IOException {
        int mode = entry.mode();
        try {
            Files.setAttribute(path, "unix:uid", entry.uid(), LinkOption.NOFOLLOW_LINKS);
            Files.setAttribute(path, "unix:gid", entry.gid(), LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            notKept.add(entry.path() + ": " + FailureText.of(e));
            // It must not run as another user than the one who owned it.
            mode &= PERMISSIONS;
        }
        if (entry.kind() != Kind.LINK) {
            Files.setAttribute(path, "unix:mode", mode);
            Files.setLastModifiedTime(path, FileTime.from(Instant.ofEpochSecond(entry.seconds(), entry.nanos())));
        }
    }
}
