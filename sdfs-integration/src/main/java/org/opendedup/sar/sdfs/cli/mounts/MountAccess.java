package org.opendedup.sar.sdfs.cli.mounts;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.opendedup.sar.io.handle.MountTable;

/** Who has access to a mount, and what is allowed in it, according to the mount table. */
public record MountAccess(Set<String> options) {
    public static MountAccess of(MountTable.Entry mount) {
        return new MountAccess(mount.options());
    }

    /** Reads the access of a mount; empty if nothing is mounted there. */
    public static Optional<MountAccess> at(Path mountPoint) throws IOException {
        return MountTable.read().top(mountPoint).map(MountAccess::of);
    }

    /**
     * Returns the options that are on and must stay on after a remount that does not change them, each followed by a
     * comma. mount(8) repeats all other options each time, but "suid" looks the same to it as no option.
     */
    public String kept() {
        return (has("suid") ? "suid," : "") + (has("dev") ? "dev," : "");
    }

    /** Returns a text for people. */
    public String text() {
        return (isOpenToAll()
                        ? "Every user may enter, as the files' permissions allow"
                        : "Only the user who mounted may enter")
                + "; " + privileged() + ".";
    }

    private String privileged() {
        boolean suid = has("suid");
        boolean dev = has("dev");
        if (suid && dev) {
            return "set-user-ID programs and devices work";
        }
        if (!suid && !dev) {
            return "set-user-ID programs and devices do not work (nosuid, nodev)";
        }
        return suid
                ? "set-user-ID programs work, devices do not (nodev)"
                : "devices work, set-user-ID programs do not (nosuid)";
    }

    private boolean isOpenToAll() {
        return options.contains("allow_other");
    }

    private boolean has(String name) {
        return !options.contains("no" + name);
    }

    /** Returns the access as JSON, with stable keys. */
    public Map<String, Object> report() {
        var report = new LinkedHashMap<String, Object>();
        report.put("readOnly", options.contains("ro"));
        report.put("allowOther", isOpenToAll());
        report.put("suid", has("suid"));
        report.put("dev", has("dev"));
        return report;
    }
}
