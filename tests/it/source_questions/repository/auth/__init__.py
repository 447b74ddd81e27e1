"""The auth module: authentication of users by password or token."""
