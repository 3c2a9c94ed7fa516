package org.opendedup.sar.sdfs.cli.mounts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.io.handle.MountTable.Entry;

/**
 * Finds the processes that keep a mount busy, by {@code /proc} (see proc(5)): those that have its files open or mapped,
 * and those whose working or root folder is in it. Only root sees the processes of other users.
 */
public final class MountUsers {
    /** Processes that are listed, at most; more would fill the screen. */
    private static final int LISTED_MAX = 10;

    private static final Path PROC = Path.of("/proc");

    private final Entry mount;

    private MountUsers(Entry mount) {
        this.mount = mount;
    }

    /** Returns some of the processes, each as {@code 4711 (bash)}. */
    public static List<String> of(Entry mount) throws IOException {
        var users = new ArrayList<String>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path process : processes) {
                if (users.size() < LISTED_MAX && new MountUsers(mount).isUsedBy(process)) {
                    users.add(process.getFileName() + name(process));
                }
            }
        }
        return users;
    }

    /** Returns the process's name, which may not be text; empty if the process has just ended. */
    private static String name(Path process) {
        try {
            byte[] name = Files.readAllBytes(process.resolve("comm"));
            return " (" + Printable.line(new String(name, StandardCharsets.UTF_8).stripTrailing()) + ")";
        } catch (IOException e) {
            return "";
        }
    }

    /** Reads a file of /proc, whose names may not be text. */
    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    }

    /** Returns whether a process uses the mount; false also if it has ended or this user may not examine it. */
    private boolean isUsedBy(Path process) {
        try {
            return worksIn(process.resolve("cwd"))
                    || worksIn(process.resolve("root"))
                    || hasOpen(process.resolve("fdinfo"))
                    || hasMapped(process.resolve("maps"));
        } catch (IOException e) {
            return false;
        }
    }

    private boolean worksIn(Path link) throws IOException {
        return Files.readSymbolicLink(link).startsWith(mount.mountPoint());
    }

    private boolean hasOpen(Path descriptors) throws IOException {
        String wanted = "mnt_id:\t" + mount.id();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(descriptors)) {
            for (Path file : files) {
                if (read(file).lines().anyMatch(wanted::equals)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean hasMapped(Path maps) throws IOException {
        String[] numbers = mount.device().split(":");
        String device = String.format(" %02x:%02x ", Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
        return read(maps).contains(device);
    }
}
