package org.opendedup.sar.sdfs.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.opendedup.sar.cluster.ArchiveEntry;
import org.opendedup.sar.cluster.ArchiveEntry.Kind;
import org.opendedup.sar.cluster.ArchiveWriter;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.sdfs.cli.report.FailureText;

/**
 * Writes a file or a folder with its contents to an archive, each folder in the order of its names: bytes, links,
 * modes, owners and times. Access lists, extended attributes and which names are one file are not kept. What cannot be
 * read, or is a device, a pipe or a socket, is left out and told.
 */
public final class TreeSaver {
    private static final int PERMISSIONS = 07777;

    private final ArchiveWriter archive;
    private final Progress progress;
    private final List<String> leftOut = new ArrayList<>();
    private long entries;

    public TreeSaver(ArchiveWriter archive, Progress progress) {
        this.archive = archive;
        this.progress = progress;
    }

    /** Writes what is at a path; a symbolic link there is followed. */
    public void save(Path path) throws IOException {
        save(path.toRealPath(), "");
    }

    /** Writes a stream of bytes as the only file of the archive. */
    public void save(InputStream in, long nowSeconds) throws IOException {
        archive.addFile(new ArchiveEntry(Kind.FILE, "", 0600, 0, 0, nowSeconds, 0, 0, 0, ""), counted(in));
    }

    /** Returns what was left out, with the reasons. */
    public List<String> leftOut() {
        return List.copyOf(leftOut);
    }

    private void save(Path path, String name) throws IOException {
        Map<String, Object> attributes;
        try {
            attributes = Files.readAttributes(
                    path,
                    "unix:mode,uid,gid,lastModifiedTime,isDirectory,isRegularFile,isSymbolicLink",
                    LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            leaveOut(path, e);
            return;
        }
        progress.at("entries", ++entries, 0);
        if (!Path.of(path.toString()).equals(path)) {
            leftOut.add(path + ": its name is not UTF-8");
        } else if (Boolean.TRUE.equals(attributes.get("isDirectory"))) {
            saveFolder(path, name, attributes);
        } else if (Boolean.TRUE.equals(attributes.get("isSymbolicLink"))) {
            saveLink(path, name, attributes);
        } else if (Boolean.TRUE.equals(attributes.get("isRegularFile"))) {
            saveFile(path, entry(Kind.FILE, name, attributes, ""));
        } else {
            leftOut.add(path + ": neither a file nor a folder nor a link");
        }
    }

    private void saveLink(Path path, String name, Map<String, Object> attributes) throws IOException {
        Path target;
        try {
            target = Files.readSymbolicLink(path);
        } catch (IOException e) {
            leaveOut(path, e);
            return;
        }
        if (Path.of(target.toString()).equals(target)) {
            archive.add(entry(Kind.LINK, name, attributes, target.toString()));
        } else {
            leftOut.add(path + ": where it leads is not UTF-8");
        }
    }

    private void saveFile(Path path, ArchiveEntry entry) throws IOException {
        InputStream in;
        try {
            // Its owner may have put a link in its place, and would get the bytes of another's file as his own.
            in = Files.newInputStream(path, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            leaveOut(path, e);
            return;
        }
        try (InputStream opened = in) {
            archive.addFile(entry, counted(opened));
        }
    }

    private void saveFolder(Path path, String name, Map<String, Object> attributes) throws IOException {
        List<Path> inside = new ArrayList<>();
        try (DirectoryStream<Path> listing = Files.newDirectoryStream(path)) {
            listing.forEach(inside::add);
        } catch (DirectoryIteratorException e) {
            leaveOut(path, Objects.requireNonNull(e.getCause()));
        } catch (IOException e) {
            leaveOut(path, e);
        }
        archive.add(entry(Kind.FOLDER, name, attributes, ""));
        Collections.sort(inside);
        for (Path each : inside) {
            save(each, (name.isEmpty() ? "" : name + "/") + each.getFileName());
        }
    }

    private void leaveOut(Path path, IOException why) {
        leftOut.add(path + ": " + FailureText.of(why));
    }

    private static ArchiveEntry entry(Kind kind, String name, Map<String, Object> attributes, String target) {
        Instant time = ((FileTime) Objects.requireNonNull(attributes.get("lastModifiedTime"))).toInstant();
        return new ArchiveEntry(
                kind,
                name,
                number(attributes, "mode") & PERMISSIONS,
                number(attributes, "uid"),
                number(attributes, "gid"),
                time.getEpochSecond(),
                time.getNano(),
                0,
                0,
                target);
    }

    private static int number(Map<String, Object> attributes, String name) {
        return (Integer) Objects.requireNonNull(attributes.get(name));
    }

    /** Returns the stream, which shows the progress within a large file. */
    private InputStream counted(InputStream in) {
        return new InputStream() {
            private long read;

            @Override
            public int read() throws IOException {
                throw new IOException("bytes are read in arrays");
            }

            @Override
            public int read(byte[] target, int offset, int count) throws IOException {
                int some = in.read(target, offset, count);
                read += Math.max(0, some);
                show();
                return some;
            }

            private void show() throws InterruptedIOException {
                progress.at("bytes", archive.bytes() + read, 0);
            }
        };
    }
}
