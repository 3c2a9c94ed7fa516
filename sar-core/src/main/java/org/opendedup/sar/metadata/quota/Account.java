package org.opendedup.sar.metadata.quota;

import org.jspecify.annotations.Nullable;

/** The user, the group and the project that a file is charged to; one object for each combination. */
public final class Account {
    final Usage user;
    final Usage group;
    final @Nullable Usage project;

    Account(Usage user, Usage group, @Nullable Usage project) {
        this.user = user;
        this.group = group;
        this.project = project;
    }

    public int uid() {
        return user.id.id();
    }

    public int gid() {
        return group.id.id();
    }

    /** Returns the number of the project; 0 if there is none. */
    public int project() {
        return project == null ? 0 : project.id.id();
    }

    boolean is(int uid, int gid, int projectId) {
        return uid() == uid && gid() == gid && project() == projectId;
    }
}
