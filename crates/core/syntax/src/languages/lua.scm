; lua
