package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Who gets into a mount, and what works in it: what the mount table says of it. */
record MountAccess(Set<String> options) {
    static MountAccess of(MountTable.Entry mount) {
        return new MountAccess(mount.options());
    }

    /** Empty if nothing is mounted there. */
    static Optional<MountAccess> at(Path mountPoint) throws IOException {
        return MountTable.read().top(mountPoint).map(MountAccess::of);
    }

    /**
     * What works, and does so after a remount that is not asked for something else: as options, each with a comma behind it. All other
     * options mount(8) says anew each time, but it does not tell "suid" from nothing said.
     */
    String kept() {
        return (has("suid") ? "suid," : "") + (has("dev") ? "dev," : "");
    }

    /** For people. */
    String text() {
        return (isOpenToAll()
                        ? "Every user gets in, as the files' permissions say"
                        : "Only the user who mounted gets in")
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

    /** As JSON, with stable keys. */
    Map<String, Object> report() {
        var report = new LinkedHashMap<String, Object>();
        report.put("readOnly", options.contains("ro"));
        report.put("allowOther", isOpenToAll());
        report.put("suid", has("suid"));
        report.put("dev", has("dev"));
        return report;
    }
}
